/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/fft/fft.c */
#include "passes.h"

#include "shared/host/util/operand.h"

/* All elements of the input or the output. */
typedef struct view {
    void *buffer;
    int64_t first;
    const int64_t *shape;
    int64_t step[COLLET_MAX_DIMS];
} view;

static void view_operand(view *v, const collet_operand *o, fft_unit unit)
{
    uint64_t size = cpu_dtype_size(o->dtype);
    v->buffer = o->buffer;
    v->first = (int64_t)(unit == FFT_BYTES ? o->byte_offset : o->byte_offset / size);
    v->shape = o->shape;
    for (int32_t i = 0; i < o->ndim; i++)
        v->step[i] = unit == FFT_BYTES ? o->strides[i] * (int64_t)size : o->strides[i];
}

/* Views the workspace as a contiguous array with the input's shape. */
static void view_temporary(view *v, const collet_kernel_call *call, fft_unit unit)
{
    const collet_operand *in = operand_of(call, 1);
    int64_t step = unit == FFT_BYTES ? (int64_t)cpu_dtype_size(in->dtype) : 1;
    v->buffer = call->workspace;
    v->first = 0;
    v->shape = in->shape;
    for (int32_t i = in->ndim - 1; i >= 0; i--) {
        v->step[i] = step;
        step *= in->shape[i];
    }
}

/* Inserts an axis into the list of the other axes, which is sorted by descending stride in the output. */
static void add_other(fft_pass *p, int64_t extent, int64_t from, int64_t to)
{
    int32_t i = p->ndim++;
    uint64_t size = (uint64_t)(to < 0 ? -to : to);
    for (; i > 0; i--) {
        int64_t before = p->to.other[i - 1];
        if ((uint64_t)(before < 0 ? -before : before) >= size)
            break;
        p->shape[i] = p->shape[i - 1];
        p->from.other[i] = p->from.other[i - 1];
        p->to.other[i] = p->to.other[i - 1];
    }
    p->shape[i] = extent;
    p->from.other[i] = from;
    p->to.other[i] = to;
}

static void set_side(fft_side *s, const view *v, int32_t axis)
{
    s->buffer = v->buffer;
    s->first = v->first;
    s->step = v->step[axis];
    s->length = v->shape[axis];
}

static void set_lines(fft_pass *p, int32_t axis, int32_t ndim, const view *from, const view *to)
{
    p->lines = 1;
    p->ndim = 0;
    set_side(&p->from, from, axis);
    set_side(&p->to, to, axis);
    for (int32_t i = 0; i < ndim; i++) {
        /* Both sides have the same shape except along the axis itself. */
        if (i == axis || to->shape[i] == 1)
            continue;
        p->lines *= to->shape[i];
        add_other(p, to->shape[i], from->step[i], to->step[i]);
    }
}

uint64_t fft_temporary(const collet_kernel_call *call)
{
    const collet_fft_params *params = call->params;
    const collet_operand *in = operand_of(call, 1);
    if (cpu_dtype_is_complex(operand_of(call, 0)->dtype) || params->last_axes == 1)
        return 0;
    uint64_t bytes = (uint64_t)operand_count(in) * cpu_dtype_size(in->dtype);
    return (bytes + 63) / 64 * 64;
}

int32_t fft_passes_of(const collet_kernel_call *call, fft_unit unit, fft_pass pass[FFT_AXES_MAX])
{
    const collet_fft_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int32_t count = (int32_t)params->last_axes, last = out->ndim - 1;
    int from_half = !cpu_dtype_is_complex(out->dtype);
    view input, output, temporary;
    double scale = 1.0;
    if (operand_is_empty(out))
        return 0;
    view_operand(&input, in, unit);
    view_operand(&output, out, unit);
    view_temporary(&temporary, call, unit);
    for (int32_t i = 0; i < count; i++)
        scale *= params->inverse ? (double)out->shape[last - i] : 1.0;
    for (int32_t i = 0; i < count; i++) {
        /* The last axis is transformed first; in a complex-to-real transform it is transformed last. */
        int32_t axis = from_half ? last - (count - 1) + i : last - i;
        int to_real = from_half && axis == last,
            from_real = !cpu_dtype_is_complex(in->dtype) && i == 0;
        const view *from = i == 0 ? &input : from_half ? &temporary : &output;
        const view *to = from_half && !to_real ? &temporary : &output;
        pass[i].kind = to_real ? FFT_FROM_HALF : from_real ? FFT_TO_HALF : FFT_COMPLEX;
        pass[i].inverse = params->inverse != 0;
        pass[i].wide = in->dtype == COLLET_C128 || in->dtype == COLLET_F64;
        pass[i].n = from_real ? in->shape[axis] : to->shape[axis];
        pass[i].scale = i == count - 1 ? 1.0 / scale : 1.0;
        set_lines(&pass[i], axis, out->ndim, from, to);
    }
    return count;
}

void fft_pass_lines(const fft_pass *p, int64_t first, int32_t count, fft_group *g)
{
    int64_t index[COLLET_MAX_DIMS], rest = first;
    char *from = (char *)p->from.buffer + p->from.first, *to = (char *)p->to.buffer + p->to.first;
    g->in.step = p->from.step;
    g->out.step = p->to.step;
    g->in.part = g->out.part = p->wide ? 8 : 4;
    for (int32_t i = p->ndim - 1; i >= 0; i--) {
        index[i] = rest % p->shape[i];
        rest /= p->shape[i];
        from += index[i] * p->from.other[i];
        to += index[i] * p->to.other[i];
    }
    for (int32_t l = 0; l < count; l++) {
        g->in.at[l] = from;
        g->out.at[l] = to;
        for (int32_t i = p->ndim - 1; i >= 0; i--) {
            int carry = ++index[i] == p->shape[i];
            from += carry ? (1 - p->shape[i]) * p->from.other[i] : p->from.other[i];
            to += carry ? (1 - p->shape[i]) * p->to.other[i] : p->to.other[i];
            if (!carry)
                break;
            index[i] = 0;
        }
    }
}
