/* SPDX-License-Identifier: Apache-2.0 */
/* Shape rules of the fft family.
 * Tests: tests/core/test_infer.c, tests/core/test_operands.c */
#include "rules.h"

#include <inttypes.h>
#include <string.h>

#include "shape.h"

static int is_real(collet_dtype dtype)
{
    return dtype == COLLET_F32 || dtype == COLLET_F64;
}

/* Number of elements of the half spectrum of n real numbers. */
static int64_t half(int64_t n)
{
    return n > 0 ? n / 2 + 1 : 0;
}

/* The extent of the output's last axis. Two real lengths have the same half spectrum: returns the output's length if
 * it is one of the two, else the even length. */
static int64_t transformed(const struct op_view *in, const struct op_view *out)
{
    int64_t from = in->shape[in->ndim - 1];
    int64_t given = out->ndim == in->ndim ? out->shape[out->ndim - 1] : 0;
    if (is_real(in->dtype))
        return half(from);
    if (!is_real(out->dtype))
        return from;
    if (from - 1 > INT64_MAX / 2)
        return -1; /* more than 64 bits; possible only if another axis is empty */
    return half(given) == from ? given : from > 1 ? 2 * (from - 1) : from;
}

collet_status op_rule_fft(const op *o, op_shapes *views, const void *params, collet_error *err)
{
    const collet_fft_params *p = params;
    const struct op_view *out = &views->operand[0], *in = &views->operand[1];
    int64_t shape[COLLET_MAX_DIMS];
    if (p->last_axes < 1 || p->last_axes > 3)
        return collet_fail(err, COLLET_INVALID, "fft: last_axes is %" PRIu32 "; it must be 1, 2 or 3",
                           p->last_axes);
    if (is_real(in->dtype) && p->inverse)
        return collet_fail(err, COLLET_INVALID,
                           "fft: %s to %s is a forward transform; set inverse to 0",
                           collet_dtype_name(in->dtype), collet_dtype_name(out->dtype));
    if (is_real(out->dtype) && !p->inverse)
        return collet_fail(err, COLLET_INVALID,
                           "fft: %s to %s is an inverse transform; set inverse to 1",
                           collet_dtype_name(in->dtype), collet_dtype_name(out->dtype));
    if ((uint32_t)in->ndim < p->last_axes)
        return op_shape_error(o, views,
                              "the input must have at least as many axes as are transformed", err);
    memcpy(shape, in->shape, (size_t)in->ndim * sizeof *shape);
    shape[in->ndim - 1] = transformed(in, out);
    return op_expect(
        o, views, 0, in->ndim, shape,
        is_real(in->dtype)    ? "the half spectrum of a real axis of n elements has n / 2 + 1"
        : is_real(out->dtype) ? "a real axis of n elements comes from a half spectrum of n / 2 + 1"
                              : "a complex transform keeps the shape",
        err);
}

collet_status op_rule_fftshift(const op *o, op_shapes *views, const void *params, collet_error *err)
{
    const collet_fftshift_params *p = params;
    char name[OP_OPERAND_TEXT];
    const struct op_view *in = &views->operand[1];
    if (p->axes >> in->ndim)
        return collet_fail(err, COLLET_INVALID,
                           "fftshift: axes is 0x%" PRIx32
                           ", which names an axis beyond the %d axes of %s",
                           p->axes, in->ndim, op_operand_name(o, 1, name));
    return op_expect(o, views, 0, in->ndim, in->shape, "the shapes must be the same", err);
}
