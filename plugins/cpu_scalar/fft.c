/* SPDX-License-Identifier: Apache-2.0 */
/* The reference transform: one line after another, all arithmetic in f64.
 * Tests: conformance/fft/fft.c */
#include "device.h"

#include <stdlib.h>

#include "shared/host/fft/passes.h"
#include "shared/host/fft/shift.h"
#include "shared/host/util/plan_cache.h"
#include "shared/host/util/rows.h"

#define INLINE static inline __attribute__((always_inline))
#define NAME(x) line_##x
#define REAL double
#define VEC double
#define LANES 1
#include "shared/host/fft/line.inc"

#define NAME2(x) f32_##x
#define MEMORY float
#include "shared/host/fft/group.inc"
#undef NAME2
#undef MEMORY
#define NAME2(x) f64_##x
#define MEMORY double
#include "shared/host/fft/group.inc"

typedef struct axis_plan {
    cached_plan head;
    fft_axis axis;
} axis_plan;

static void destroy(cached_plan *plan)
{
    axis_plan *p = (axis_plan *)plan;
    fft_axis_clear(&p->axis);
    free(p);
}

static cached_plan *make(const plan_key *key, void *context)
{
    axis_plan *p = calloc(1, sizeof *p);
    (void)context;
    if (!p)
        return NULL;
    if (!fft_axis_make(&p->axis, key->word[0], (int)key->word[1], 1, 1)) {
        free(p);
        return NULL;
    }
    p->head = (cached_plan){destroy, p->axis.bytes};
    return &p->head;
}

/* The number of pairs in each of the two buffers of a line. */
static int64_t buffer_pairs(const collet_kernel_call *call)
{
    const collet_fft_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int64_t most = 0;
    for (int32_t i = out->ndim - (int32_t)params->last_axes; i < out->ndim; i++) {
        int real = out->dtype != in->dtype && i == out->ndim - 1;
        int64_t n = in->shape[i] > out->shape[i] ? in->shape[i] : out->shape[i];
        int64_t pairs = n > 0 ? fft_axis_pairs(n, real) : 0;
        most = pairs > most ? pairs : most;
    }
    return most;
}

ACCEPTS(fft)
{
    *workspace_bytes = fft_temporary(call) + 2 * (uint64_t)buffer_pairs(call) * sizeof(line_pair);
    return COLLET_OK;
}

KERNEL(fft)
{
    fft_pass passes[FFT_AXES_MAX];
    int32_t count = fft_passes_of(call, FFT_BYTES, passes);
    line_pair *a = (line_pair *)(void *)((char *)call->workspace + fft_temporary(call));
    line_pair *b = a + buffer_pairs(call);
    for (int32_t i = 0; i < count; i++) {
        const fft_pass *p = &passes[i];
        plan_key key = {.words = 0};
        plan_key_add(&key, p->n);
        plan_key_add(&key, p->kind != FFT_COMPLEX);
        cached_plan *plan = plan_cache_take(device->base.plans, &key, make, NULL);
        if (!plan) {
            return device->base.host->fail(call->err, i ? COLLET_FAILED : COLLET_REFUSED,
                                           "out of memory for a transform of length %lld",
                                           (long long)p->n);
        }
        fft_group group = {.axis = &((axis_plan *)plan)->axis,
                           .kind = p->kind,
                           .inverse = p->inverse,
                           .lanes = 1,
                           .scale = p->scale};
        for (int64_t line = 0; line < p->lines; line++) {
            fft_pass_lines(p, line, 1, &group);
            (p->wide ? f64_group : f32_group)(&group, a, b);
        }
        plan_cache_give(device->base.plans, plan);
    }
    return COLLET_OK;
}

KERNEL(copy); /* array_move.c */

KERNEL(fftshift)
{
    return cpu_fft_shift(device, queue, call, host_copy);
}
