/* SPDX-License-Identifier: Apache-2.0 */
/* Defects of reductions. */
#include "broken.h"

#include <math.h>

/* The output element that element i of the input contributes to. */
static int64_t target_of(const collet_kernel_call *call, int64_t i)
{
    const collet_reduce_params *params = call->params;
    const collet_operand *in = &call->operands[1];
    int64_t at = 0, scale = 1;
    for (int32_t a = in->ndim - 1; a >= 0; a--) {
        if (!(params->axes >> a & 1)) {
            at += i % in->shape[a] * scale;
            scale *= in->shape[a];
        }
        i /= in->shape[a];
    }
    return at;
}

static void sum(const collet_kernel_call *call, int skip_nan)
{
    const collet_operand *out = &call->operands[0], *in = &call->operands[1];
    int64_t targets = broken_count(out), count = broken_count(in);
    for (int64_t i = 0; i < targets; i++)
        broken_set(out, i, 0);
    for (int64_t i = 0; i < count; i++) {
        int64_t to = target_of(call, i);
        double x = broken_get(in, i);
        if (!skip_nan || !isnan(x))
            broken_set(out, to, broken_get(out, to) + x);
    }
}

BROKEN_KERNEL(adds_in_f32)
{
    (void)device, (void)queue;
    sum(call, 0);
    return COLLET_OK;
}

BROKEN_KERNEL(skips_nan)
{
    (void)device, (void)queue;
    sum(call, 1);
    return COLLET_OK;
}

static int before(double x, double y, int skip_nan)
{
    return x < y || (skip_nan ? x == y && signbit(x) : isnan(x));
}

/* The minimum, which skips NaN, or takes the first of equal numbers. */
static void minimum(const collet_kernel_call *call, int skip_nan)
{
    const collet_operand *out = &call->operands[0], *in = &call->operands[1];
    int64_t targets = broken_count(out), count = broken_count(in);
    for (int64_t i = 0; i < targets; i++)
        broken_set(out, i, INFINITY);
    for (int64_t i = 0; i < count; i++) {
        int64_t to = target_of(call, i);
        double x = broken_get(in, i);
        if (before(x, broken_get(out, to), skip_nan))
            broken_set(out, to, x);
    }
}

BROKEN_KERNEL(ignores_nan)
{
    (void)device, (void)queue;
    minimum(call, 1);
    return COLLET_OK;
}

BROKEN_KERNEL(takes_any_zero)
{
    (void)device, (void)queue;
    minimum(call, 0);
    return COLLET_OK;
}
