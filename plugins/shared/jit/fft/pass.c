/* SPDX-License-Identifier: Apache-2.0 */
#include "pass.h"

#include <string.h>

static int is_wide(const collet_operand *o)
{
    return o->dtype == COLLET_C128 || o->dtype == COLLET_F64;
}

static fft_side side_of(const collet_operand *o)
{
    fft_side s = {.buffer = o->buffer, .shape = o->shape, .real = !cpu_dtype_is_complex(o->dtype)};
    s.first = (int64_t)(o->byte_offset / cpu_dtype_size(o->dtype));
    memcpy(s.strides, o->strides, (size_t)o->ndim * sizeof *s.strides);
    return s;
}

/* A contiguous array at the front of the workspace with the input's shape. */
static fft_side temporary_of(const collet_kernel_call *call)
{
    const collet_operand *in = operand_of(call, 1);
    fft_side s = {.buffer = call->workspace, .shape = in->shape};
    int64_t step = 1;
    for (int32_t i = in->ndim - 1; i >= 0; i--) {
        s.strides[i] = step;
        step *= in->shape[i];
    }
    return s;
}

static void add_other(fft_pass *p, int64_t extent, int64_t in, int64_t out)
{
    int32_t i = p->outer++;
    for (; i > 0 && fft_magnitude(p->out_other[i - 1]) < fft_magnitude(out); i--) {
        p->extent[i] = p->extent[i - 1];
        p->in_other[i] = p->in_other[i - 1];
        p->out_other[i] = p->out_other[i - 1];
    }
    p->extent[i] = extent;
    p->in_other[i] = in;
    p->out_other[i] = out;
    p->lines *= extent;
}

/* Merges axes that are contiguous on both sides; the lines of a merged axis are adjacent. */
static void join_others(fft_pass *p)
{
    int32_t last = 0;
    for (int32_t i = 1; i < p->outer; i++) {
        int64_t extent = p->extent[i];
        int inside = p->in_other[last] == extent * p->in_other[i] &&
                     p->out_other[last] == extent * p->out_other[i];
        last += !inside;
        p->extent[last] = inside ? p->extent[last] * extent : extent;
        p->in_other[last] = p->in_other[i];
        p->out_other[last] = p->out_other[i];
    }
    p->outer = p->outer ? last + 1 : 0;
}

int32_t fft_passes_of(const collet_kernel_call *call, fft_pass passes[FFT_AXES_MAX])
{
    const collet_fft_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int32_t count = (int32_t)params->axes, last = out->ndim - 1;
    int from_half = !cpu_dtype_is_complex(out->dtype);
    double scale = 1.0;
    if (operand_is_empty(out))
        return 0;
    for (int32_t i = 0; i < count; i++)
        scale *= params->inverse ? (double)out->shape[last - i] : 1.0;
    for (int32_t i = 0; i < count; i++) {
        fft_pass *p = &passes[i];
        *p = (fft_pass){.inverse = params->inverse != 0, .wide = is_wide(in), .lines = 1};
        p->axis = from_half ? last - (count - 1) + i : last - i;
        p->half = from_half && p->axis == last;
        p->from = i == 0 ? side_of(in) : from_half ? temporary_of(call) : side_of(out);
        p->to = from_half && !p->half ? temporary_of(call) : side_of(out);
        p->n = p->from.real ? in->shape[p->axis] : p->to.shape[p->axis];
        p->scale = i == count - 1 ? 1.0 / scale : 1.0;
        for (int32_t k = 0; k < out->ndim; k++)
            if (k != p->axis && p->to.shape[k] != 1)
                add_other(p, p->to.shape[k], p->from.strides[k], p->to.strides[k]);
        join_others(p);
    }
    return count;
}

uint64_t fft_temporary_bytes(const collet_kernel_call *call)
{
    const collet_fft_params *params = call->params;
    const collet_operand *in = operand_of(call, 1);
    if (cpu_dtype_is_complex(operand_of(call, 0)->dtype) || params->axes == 1)
        return 0;
    return (uint64_t)operand_count(in) * cpu_dtype_size(in->dtype);
}
