/* SPDX-License-Identifier: Apache-2.0 */
#include "passes.h"

#include "shared/host/util/rows.h"

/* One side of a pass. */
typedef struct side {
    char *at;
    const int64_t *shape;
    int64_t step[COLLET_MAX_DIMS]; /* bytes */
} side;

static side side_of(const collet_operand *o)
{
    side s = {.at = cpu_at(o), .shape = o->shape};
    for (int32_t i = 0; i < o->ndim; i++)
        s.step[i] = cpu_step(o, i);
    return s;
}

/* A contiguous array in the workspace with the input's shape. */
static side temporary_of(const collet_kernel_call *call)
{
    const collet_operand *in = operand_of(call, 1);
    side s = {.at = call->workspace, .shape = in->shape};
    int64_t step = (int64_t)cpu_dtype_size(in->dtype);
    for (int32_t i = in->ndim - 1; i >= 0; i--) {
        s.step[i] = step;
        step *= in->shape[i];
    }
    return s;
}

/* Inserts an axis among those before it, sorting `other` by descending stride in the output. */
static void add_other(fft_pass *p, int64_t extent, int64_t from, int64_t to)
{
    int32_t i = p->ndim++;
    uint64_t size = (uint64_t)(to < 0 ? -to : to);
    for (; i > 0; i--) {
        int64_t before = p->other[1][i - 1];
        if ((uint64_t)(before < 0 ? -before : before) >= size)
            break;
        p->shape[i] = p->shape[i - 1];
        p->other[0][i] = p->other[0][i - 1];
        p->other[1][i] = p->other[1][i - 1];
    }
    p->shape[i] = extent;
    p->other[0][i] = from;
    p->other[1][i] = to;
}

static void set_lines(fft_pass *p, int32_t axis, int32_t ndim, const side *from, const side *to)
{
    p->lines = 1;
    p->at[0] = from->at;
    p->at[1] = to->at;
    p->step[0] = from->step[axis];
    p->step[1] = to->step[axis];
    p->length = to->shape[axis];
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
    if (cpu_dtype_is_complex(operand_of(call, 0)->dtype) || params->axes == 1)
        return 0;
    uint64_t bytes = (uint64_t)operand_count(in) * cpu_dtype_size(in->dtype);
    return (bytes + 63) / 64 * 64;
}

int32_t fft_passes_of(const collet_kernel_call *call, fft_pass pass[FFT_AXES_MAX])
{
    const collet_fft_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    int32_t count = (int32_t)params->axes, last = out->ndim - 1;
    int from_half = !cpu_dtype_is_complex(out->dtype);
    side sides[2] = {side_of(in), side_of(out)}, temporary = {0};
    double scale = 1.0;
    if (from_half && count > 1)
        temporary = temporary_of(call);
    if (operand_is_empty(out))
        return 0;
    for (int32_t i = 0; i < count; i++)
        scale *= params->inverse ? (double)out->shape[last - i] : 1.0;
    for (int32_t i = 0; i < count; i++) {
        /* The last axis first; but last in a complex-to-real transform. */
        int32_t axis = from_half ? last - (count - 1) + i : last - i;
        int to_real = from_half && axis == last,
            from_real = !cpu_dtype_is_complex(in->dtype) && i == 0;
        const side *from = i == 0 ? &sides[0] : from_half ? &temporary : &sides[1];
        const side *to = from_half && !to_real ? &temporary : &sides[1];
        pass[i] = (fft_pass){.kind = to_real     ? FFT_FROM_HALF
                                     : from_real ? FFT_TO_HALF
                                                 : FFT_COMPLEX,
                             .inverse = params->inverse != 0,
                             .wide = in->dtype == COLLET_C128 || in->dtype == COLLET_F64,
                             .n = from_real ? in->shape[axis] : to->shape[axis],
                             .scale = i == count - 1 ? 1.0 / scale : 1.0};
        set_lines(&pass[i], axis, out->ndim, from, to);
    }
    return count;
}

void fft_pass_lines(const fft_pass *p, int64_t first, int32_t count, fft_group *g)
{
    int64_t index[COLLET_MAX_DIMS], rest = first;
    char *from = p->at[0], *to = p->at[1];
    g->in.step = p->step[0];
    g->out.step = p->step[1];
    g->in.part = g->out.part = p->wide ? 8 : 4;
    for (int32_t i = p->ndim - 1; i >= 0; i--) {
        index[i] = rest % p->shape[i];
        rest /= p->shape[i];
        from += index[i] * p->other[0][i];
        to += index[i] * p->other[1][i];
    }
    for (int32_t l = 0; l < count; l++) {
        g->in.at[l] = from;
        g->out.at[l] = to;
        for (int32_t i = p->ndim - 1; i >= 0; i--) {
            int carry = ++index[i] == p->shape[i];
            from += carry ? (1 - p->shape[i]) * p->other[0][i] : p->other[0][i];
            to += carry ? (1 - p->shape[i]) * p->other[1][i] : p->other[1][i];
            if (!carry)
                break;
            index[i] = 0;
        }
    }
}
