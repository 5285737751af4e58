/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_expression.c */
#include "steps.h"

#include <stdlib.h>
#include <string.h>

#include "context/context.h"
#include "memory/array.h"
#include "op/elementwise.h"

int steps_broadcast(int64_t shape[COLLET_MAX_DIMS], int32_t *ndim, const int64_t *other,
                    int32_t other_ndim)
{
    if (other_ndim > *ndim) {
        int32_t shift = other_ndim - *ndim;
        memmove(shape + shift, shape, (size_t)*ndim * sizeof *shape);
        for (int32_t i = 0; i < shift; i++)
            shape[i] = 1;
        *ndim = other_ndim;
    }
    for (int32_t i = 0; i < other_ndim; i++) {
        int64_t *mine = &shape[*ndim - other_ndim + i];
        if (*mine == 1)
            *mine = other[i];
        else if (other[i] != 1 && other[i] != *mine)
            return 0;
    }
    return 1;
}

collet_status steps_expand(collet_context *cx, collet_array **out, const collet_array *from,
                           int32_t ndim, const int64_t *shape)
{
    collet_status status = collet_array_create(cx, out, from->dtype, ndim, shape);
    if (status != COLLET_OK)
        return status;
    status = collet_call(cx, COLLET_OP_COPY, out, &from, NULL);
    if (status != COLLET_OK) {
        collet_array_destroy(*out);
        *out = NULL;
    }
    return status;
}

collet_status steps_reduce(collet_context *cx, uint32_t id, collet_array *out,
                           const collet_array *in, const collet_evaluate_params *p)
{
    const struct {
        collet_reduce_params reduce;
        double correction;
    } axes = {{sizeof axes, p->axes, p->keepdims, 0}, p->correction};
    return collet_call(cx, id, &out, &in, &axes);
}

/* A program that is being run. */
typedef struct stepping {
    collet_context *cx;
    const collet_program *p;
    collet_array *const *outs;
    const collet_array *const *ins;
    const collet_array **values;
    collet_array **own; /* temporary arrays of values; NULL: the value is an input or output */
    uint32_t *last;     /* for each value, 1 + the last step that uses it */
} stepping;

static int overlaps_input(const stepping *s, const collet_array *out)
{
    for (uint32_t i = 0; i < s->p->n_in; i++)
        if (array_overlaps(out, s->ins[i]))
            return 1;
    return 0;
}

/* The output to which a value may be written at once; NULL: none. */
static collet_array *output_for(const stepping *s, uint32_t value, const collet_array_spec *spec)
{
    for (uint32_t k = 0; !s->p->reduce && k < s->p->n_out; k++) {
        collet_array *out = s->outs[k];
        if (s->p->outs[k] == value && out->ndim == spec->ndim &&
            !memcmp(out->shape, spec->shape, (size_t)spec->ndim * sizeof *spec->shape) &&
            !overlaps_input(s, out))
            return out;
    }
    return NULL;
}

static void release(stepping *s, uint32_t value)
{
    collet_array_destroy(s->own[value]);
    s->own[value] = NULL;
}

static collet_status run_step(stepping *s, uint32_t k)
{
    const collet_step *step = collet_program_step(s->p, k);
    const elementwise *e = elementwise_of(step->op);
    uint32_t inputs = e ? e->inputs : 1, value = s->p->n_in + s->p->n_constants + k;
    collet_array_spec spec = {.dtype = step->dtype};
    const collet_array *in[3];
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < inputs; i++) {
        in[i] = s->values[step->in[i]];
        if (!steps_broadcast(spec.shape, &spec.ndim, in[i]->shape, in[i]->ndim))
            return context_fail(s->cx, COLLET_SHAPE, "the operands of a step do not broadcast");
    }
    collet_array *out = output_for(s, value, &spec);
    if (!out) {
        status = collet_array_create(s->cx, &out, spec.dtype, spec.ndim, spec.shape);
        if (status != COLLET_OK)
            return status;
        s->own[value] = out;
    }
    s->values[value] = out;
    status = collet_call(s->cx, step->op, &out, in, NULL);
    for (uint32_t i = 0; i < inputs; i++)
        if (s->last[step->in[i]] == k + 1)
            release(s, step->in[i]);
    return status;
}

static collet_status finish_output(stepping *s, uint32_t k, const collet_evaluate_params *p)
{
    const collet_array *value = s->values[s->p->outs[k]];
    collet_array *out = s->outs[k], *full = NULL;
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = 0;
    if (value == out)
        return COLLET_OK;
    if (!s->p->reduce)
        return collet_call(s->cx, COLLET_OP_COPY, &out, &value, NULL);
    for (uint32_t i = 0; i < s->p->n_in; i++)
        (void)steps_broadcast(shape, &ndim, s->ins[i]->shape, s->ins[i]->ndim);
    if (value->ndim != ndim || memcmp(value->shape, shape, (size_t)ndim * sizeof *shape) != 0) {
        collet_status status = steps_expand(s->cx, &full, value, ndim, shape);
        if (status != COLLET_OK)
            return status;
        value = full;
    }
    collet_status status = steps_reduce(s->cx, s->p->reduce, out, value, p);
    collet_array_destroy(full);
    return status;
}

static collet_status run_all(stepping *s, const collet_evaluate_params *p)
{
    uint32_t given = s->p->n_in + s->p->n_constants;
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < s->p->n_in; i++)
        s->values[i] = s->ins[i];
    for (uint32_t i = s->p->n_in; i < given && status == COLLET_OK; i++) {
        const collet_scalar *c = collet_program_constant(s->p, p->constants, i - s->p->n_in);
        status = collet_array_from(s->cx, &s->own[i], c->dtype, 0, NULL, c->value.bytes);
        s->values[i] = s->own[i];
    }
    for (uint32_t k = 0; k < s->p->n_steps; k++) {
        const elementwise *e = elementwise_of(collet_program_step(s->p, k)->op);
        for (uint32_t i = 0; i < (e ? e->inputs : 1); i++)
            s->last[collet_program_step(s->p, k)->in[i]] = k + 1;
    }
    for (uint32_t i = 0; i < s->p->n_out; i++)
        s->last[s->p->outs[i]] = 0;
    for (uint32_t k = 0; k < s->p->n_steps && status == COLLET_OK; k++)
        status = run_step(s, k);
    for (uint32_t k = 0; k < s->p->n_out && status == COLLET_OK; k++)
        status = finish_output(s, k, p);
    return status;
}

collet_status steps_run(collet_context *cx, collet_array *const *outs,
                        const collet_array *const *ins, const collet_evaluate_params *p)
{
    uint32_t count = p->program->n_in + p->program->n_constants + p->program->n_steps;
    stepping s = {.cx = cx, .p = p->program, .outs = outs, .ins = ins};
    s.values = calloc(count + 1u, sizeof *s.values);
    s.own = calloc(count + 1u, sizeof *s.own);
    s.last = calloc(count + 1u, sizeof *s.last);
    collet_status status =
        s.values && s.own && s.last
            ? run_all(&s, p)
            : context_fail(cx, COLLET_NO_MEMORY, "out of memory for an expression");
    for (uint32_t i = 0; s.own && i < count; i++)
        collet_array_destroy(s.own[i]);
    free(s.values);
    free(s.own);
    free(s.last);
    return status;
}
