/* SPDX-License-Identifier: Apache-2.0 */
/* array: programs of elementwise functions, block by block and step by step.
 * Tests: tests/core/test_evaluate.c, conformance/array/elementwise.c */
#include "device.h"

#include "elementwise_functions.h"
#include "shared/formula/rows.h"
#include "shared/host/util/convert.h"
#include "shared/host/util/rows.h"

#include <collet/types.h>

/* Computes `n` elements of view 0 from the inputs, views 1 to 3; elements are step[view] bytes apart. `dtype` is the
 * dtype of the last input, because the first input of `where` is a bool. */
static void elementwise_row(uint32_t op, collet_dtype dtype, char *const *at, const int64_t *step,
                     int64_t n)
{
    row_find[dtype](op)(at, step, n);
}

/* All operands have the output's shape. */
KERNEL(elementwise)
{
    /* The last input gives the dtype, because the first input of `where` is a bool. */
    row_fn row = row_find[operand_of(call, call->n_out + call->n_in - 1)->dtype](call->op);
    cpu_rows walk = {0};
    for (uint32_t i = 0; i < call->n_out + call->n_in; i++)
        cpu_rows_view(&walk, operand_of(call, i));
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        row(walk.at, walk.inner, walk.length);
    return COLLET_OK;
}

/* Rounds the product before the sum, so that every backend gives the same bits. */
static void f32_axpy(const cpu_rows *w, float alpha)
{
    for (int64_t i = 0; i < w->length; i++) {
        float product = alpha * *(float *)(void *)(w->at[1] + i * w->inner[1]);
        *(float *)(void *)(w->at[0] + i * w->inner[0]) =
            product + *(float *)(void *)(w->at[2] + i * w->inner[2]);
    }
}

static void f64_axpy(const cpu_rows *w, double alpha)
{
    for (int64_t i = 0; i < w->length; i++) {
        double product = alpha * *(double *)(void *)(w->at[1] + i * w->inner[1]);
        *(double *)(void *)(w->at[0] + i * w->inner[0]) =
            product + *(double *)(void *)(w->at[2] + i * w->inner[2]);
    }
}

KERNEL(axpy)
{
    const collet_axpy_params *params = call->params;
    collet_scalar alpha;
    collet_dtype dtype = operand_of(call, 0)->dtype;
    cpu_convert((char *)alpha.value.bytes, dtype, 0, (const char *)params->alpha.value.bytes,
                params->alpha.dtype, 0, 1);
    cpu_rows walk = {0};
    for (uint32_t i = 0; i < 3; i++)
        cpu_rows_view(&walk, operand_of(call, i));
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk)) {
        if (dtype == COLLET_F32)
            f32_axpy(&walk, alpha.value.f32);
        else
            f64_axpy(&walk, alpha.value.f64);
    }
    return COLLET_OK;
}

#define BLOCK 256
#define VALUE_BYTES (BLOCK * 16) /* bytes of one value of the program for a block, for any dtype */

KERNEL_HEAD_(reduce);

/* An operand, or a result that is reduced afterwards. */
typedef struct evaluate_view {
    char *at;
    int64_t step[COLLET_MAX_DIMS]; /* bytes */
} evaluate_view;

typedef struct evaluation {
    const collet_program *program;
    const collet_scalar *constants;
    int32_t ndim;
    const int64_t *shape;
    evaluate_view in[COLLET_PROGRAM_INPUTS], out[COLLET_PROGRAM_OUTPUTS];
    char *values;                    /* the values of the steps */
    char *at[COLLET_PROGRAM_INPUTS]; /* the first elements of the block */
    int64_t step[COLLET_PROGRAM_INPUTS];
} evaluation;

static const collet_operand *shaped(const collet_kernel_call *call)
{
    const collet_evaluate_params *params = call->params;
    const collet_operand *in = operand_of(call, call->n_out);
    return params->program->reduce && operand_present(in) ? in : operand_of(call, 0);
}

static uint64_t full_bytes(const collet_kernel_call *call)
{
    const collet_evaluate_params *params = call->params;
    const collet_operand *o = shaped(call);
    if (!params->program->n_in)
        return 16;
    uint64_t bytes = 16;
    for (int32_t i = 0; i < o->ndim; i++)
        if (__builtin_mul_overflow(bytes, (uint64_t)o->shape[i], &bytes))
            return UINT64_MAX / 16;
    return (bytes + 63) & ~(uint64_t)63;
}

ACCEPTS(evaluate)
{
    const collet_evaluate_params *params = call->params;
    const collet_program *p = params->program;
    uint64_t full = p->reduce ? full_bytes(call) : 0;
    if (p->n_reductions)
        return device->base.host->fail(call->err, COLLET_REFUSED,
                                  "evaluate: cpu_scalar does not reduce rows among other steps; call the ops");
    *workspace_bytes = (uint64_t)p->n_steps * VALUE_BYTES + full * p->n_out;
    return COLLET_OK;
}

static void locate(const evaluation *e, uint32_t value, char **at, int64_t *step)
{
    const collet_program *p = e->program;
    if (value < p->n_in) {
        *at = e->at[value];
        *step = e->step[value];
    } else if (value < p->n_in + p->n_constants) {
        *at = (char *)(uintptr_t)collet_program_constant(p, e->constants, value - p->n_in)
                  ->value.bytes;
        *step = 0;
    } else {
        *at = e->values + (uint64_t)(value - p->n_in - p->n_constants) * VALUE_BYTES;
        *step = (int64_t)cpu_dtype_size(collet_program_dtype(p, value));
    }
}

static void run_steps(const evaluation *e, int64_t n)
{
    const collet_program *p = e->program;
    for (uint32_t k = 0; k < p->n_steps; k++) {
        const collet_step *s = collet_program_step(p, k);
        char *at[4] = {NULL};
        int64_t step[4] = {0};
        uint32_t last = 0;
        locate(e, p->n_in + p->n_constants + k, &at[0], &step[0]);
        for (uint32_t i = 0; i < 3; i++)
            locate(e, s->in[i], &at[i + 1], &step[i + 1]);
        switch (s->op) {
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, ...)                                            \
    case id:                                                                                       \
        last = inputs;                                                                             \
        break;
#include <collet/ops/elementwise.def>
        default:
            cpu_convert(at[0], s->dtype, step[0], at[1], collet_program_dtype(p, s->in[0]), step[1],
                        n);
        }
        if (last)
            elementwise_row(s->op, collet_program_dtype(p, s->in[last - 1]), at, step, n);
    }
}

static char *element_of(const evaluation *e, const evaluate_view *v, const int64_t *index)
{
    char *at = v->at;
    for (int32_t i = 0; i < e->ndim; i++)
        at += index[i] * v->step[i];
    return at;
}

/* Computes n elements along the last axis, from `index` on. */
static void run_block(evaluation *e, const int64_t *index, int64_t n)
{
    const collet_program *p = e->program;
    int32_t last = e->ndim - 1;
    for (uint32_t i = 0; i < p->n_in; i++) {
        e->at[i] = element_of(e, &e->in[i], index);
        e->step[i] = last < 0 ? 0 : e->in[i].step[last];
    }
    run_steps(e, n);
    /* Outputs are written after all steps have run, because an output may share memory with an input. */
    for (uint32_t k = 0; k < p->n_out; k++) {
        char *at;
        int64_t step;
        locate(e, p->outs[k], &at, &step);
        cpu_move(element_of(e, &e->out[k], index), last < 0 ? 0 : e->out[k].step[last], at, step,
                 cpu_dtype_size(collet_program_dtype(p, p->outs[k])), n);
    }
}

static void run_all(evaluation *e)
{
    int64_t index[COLLET_MAX_DIMS] = {0};
    int32_t last = e->ndim - 1;
    int64_t rows = 1, length = last < 0 ? 1 : e->shape[last];
    for (int32_t i = 0; i < last; i++)
        rows *= e->shape[i];
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t rest = r, i = last - 1; i >= 0; i--) {
            index[i] = rest % e->shape[i];
            rest /= e->shape[i];
        }
        for (int64_t done = 0; done < length; done += BLOCK) {
            if (last >= 0)
                index[last] = done;
            run_block(e, index, length - done < BLOCK ? length - done : BLOCK);
        }
    }
}

static void view_operand(evaluate_view *v, const collet_operand *o)
{
    v->at = cpu_at(o);
    for (int32_t i = 0; i < o->ndim; i++)
        v->step[i] = cpu_step(o, i);
}

/* Reduces output k, which run_all has stored in C order. */
static collet_status reduce(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call, const evaluation *e, uint32_t k)
{
    const collet_evaluate_params *params = call->params;
    collet_dtype dtype = collet_program_dtype(e->program, e->program->outs[k]);
    int64_t strides[COLLET_MAX_DIMS], size = (int64_t)cpu_dtype_size(dtype);
    for (int32_t i = 0; i < e->ndim; i++)
        strides[i] = e->out[k].step[i] / size;
    const collet_operand operands[] = {*operand_of(call, k),
                                       {.buffer = e->out[k].at,
                                        .dtype = dtype,
                                        .ndim = e->ndim,
                                        .shape = e->shape,
                                        .strides = strides}};
    const struct {
        collet_reduce_params reduce;
        double correction;
    } axes = {{sizeof axes, params->axes, params->keepdims, 0}, params->correction};
    const collet_kernel_call one = {.struct_size = sizeof one,
                                    .op = e->program->reduce,
                                    .sig = COLLET_SIG(operands[0].dtype, dtype),
                                    .n_out = 1,
                                    .n_in = 1,
                                    .operand_size = sizeof *operands,
                                    .params_size = sizeof axes,
                                    .operands = operands,
                                    .params = &axes,
                                    .err = call->err};
    return host_reduce(device, queue, &one);
}

/* Directs output k of the program to the workspace at `at`, in C order. */
static void view_full(evaluation *e, uint32_t k, char *at)
{
    int64_t step = (int64_t)cpu_dtype_size(collet_program_dtype(e->program, e->program->outs[k]));
    e->out[k].at = at;
    for (int32_t i = e->ndim - 1; i >= 0; i--) {
        e->out[k].step[i] = step;
        step *= e->shape[i];
    }
}

KERNEL(evaluate)
{
    const collet_evaluate_params *params = call->params;
    const collet_program *p = params->program;
    const collet_operand *shape = shaped(call);
    evaluation e = {.program = p, .constants = params->constants, .values = call->workspace};
    collet_status status = COLLET_OK;
    char *full = e.values + (uint64_t)p->n_steps * VALUE_BYTES;
    e.ndim = p->reduce && !p->n_in ? 0 : shape->ndim;
    e.shape = shape->shape;
    for (uint32_t i = 0; i < p->n_in; i++)
        view_operand(&e.in[i], operand_of(call, call->n_out + i));
    for (uint32_t k = 0; k < p->n_out; k++) {
        if (p->reduce)
            view_full(&e, k, full + k * full_bytes(call));
        else
            view_operand(&e.out[k], operand_of(call, k));
    }
    run_all(&e);
    for (uint32_t k = 0; p->reduce && k < p->n_out && status == COLLET_OK; k++)
        status = reduce(device, queue, call, &e, k);
    return status;
}
