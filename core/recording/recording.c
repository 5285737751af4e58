/* SPDX-License-Identifier: Apache-2.0 */
/* Makes recordings.
 * Tests: tests/core/test_recording.c */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>
#include <collet/ops.h>

#include "op/check.h"
#include "util/programs.h"
#include "workspace.h"

#define ABSENT COLLET_RECORDING_ABSENT

/* ---- Life -------------------------------------------------------------------------------- */

collet_status collet_recording_create(collet_context *cx, collet_recording **out)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    collet_status status = context_check(cx);
    if (status != COLLET_OK)
        return status;
    if (!out)
        return context_fail(cx, COLLET_INVALID, "collet_recording_create: out is NULL");
    collet_recording *r = calloc(1, sizeof *r);
    if (!r)
        return context_fail(cx, COLLET_NO_MEMORY, "out of memory for a recording");
    r->runtime = cx->runtime;
    pthread_mutex_init(&r->lock, NULL);
    programs_made("recording", r);
    *out = r;
    return COLLET_OK;
}

static void step_free(recorded_step *s)
{
    if (s)
        free(s->extra);
    free(s);
}

void collet_recording_destroy(collet_recording *r)
{
    PROGRAM_CALL(, NULL, r);
    COLLET_FLOATING_SCOPE;
    if (!r)
        return;
    workspace_destroy_all(r);
    for (uint32_t i = 0; i < r->n_values; i++)
        collet_array_destroy(r->values[i].like);
    for (uint32_t i = 0; i < r->n_steps; i++)
        step_free(r->steps[i]);
    free(r->values);
    free(r->steps);
    free(r->ins);
    free(r->outs);
    free(r->fresh);
    free(r->slots);
    pthread_mutex_destroy(&r->lock);
    programs_free(r);
}

/* ---- Values ------------------------------------------------------------------------------ */

static collet_status begin(collet_context *cx, const collet_recording *r, const void *argument)
{
    collet_status status = context_check(cx);
    if (status != COLLET_OK)
        return status;
    if (!r || !argument)
        return context_fail(cx, COLLET_INVALID, "recording: %s is NULL",
                            r ? "an argument" : "the recording");
    if (r->runtime != cx->runtime)
        return context_fail(cx, COLLET_INVALID, "recording: it belongs to another runtime");
    return r->complete ? context_fail(cx, COLLET_INVALID,
                                      "recording: it is complete: make another recording")
                       : COLLET_OK;
}

/* Makes room for `count` more elements: the lists grow at powers of two. */
static int grow(void *list, uint32_t size, uint32_t count, size_t width)
{
    uint64_t room = 16, wanted = (uint64_t)size + count;
    while (room < wanted)
        room *= 2;
    void *grown = realloc(*(void **)list, (size_t)room * width);
    if (grown)
        *(void **)list = grown;
    return grown != NULL;
}

/* Makes room for values and a step, or an input. */
static collet_status reserve(collet_context *cx, collet_recording *r, uint32_t values)
{
    if (values > COLLET_RECORDING_VALUES - r->n_values)
        return context_fail(cx, COLLET_INVALID, "recording: more than %d values: divide it",
                            COLLET_RECORDING_VALUES);
    return grow(&r->values, r->n_values, values, sizeof *r->values) &&
                   grow(&r->ins, r->n_in, 1, sizeof *r->ins) &&
                   grow(&r->steps, r->n_steps, 1, sizeof *r->steps)
               ? COLLET_OK
               : context_fail(cx, COLLET_NO_MEMORY, "out of memory for a recording");
}

/* Adds a value and takes ownership of `like`. */
static uint32_t add(collet_recording *r, value_kind kind, collet_array *like)
{
    uint32_t number = r->n_values++;
    r->values[number] = (recorded_value){.kind = kind, .like = like, .base = number, .out = -1};
    return number;
}

collet_status collet_recording_input(collet_context *cx, collet_recording *r, uint32_t *value,
                                     collet_dtype dtype, int32_t ndim, const int64_t *shape)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, r);
    COLLET_FLOATING_SCOPE;
    collet_array *like;
    collet_status status = begin(cx, r, value);
    if (status == COLLET_OK)
        status = reserve(cx, r, 1);
    if (status == COLLET_OK)
        status = array_create(r->runtime, &like, dtype, ndim, shape, context_error(cx));
    if (status != COLLET_OK)
        return status;
    *value = add(r, VALUE_INPUT, like);
    r->ins[r->n_in++] = *value;
    return COLLET_OK;
}

collet_status collet_recording_constant(collet_context *cx, collet_recording *r, uint32_t *value,
                                        const collet_array *array)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, r, array);
    COLLET_FLOATING_SCOPE;
    collet_array *view;
    collet_status status = begin(cx, r, array ? value : NULL);
    if (status == COLLET_OK && array->storage->runtime != r->runtime)
        status = context_fail(cx, COLLET_INVALID, "recording: a constant of another runtime");
    if (status == COLLET_OK)
        status = reserve(cx, r, 1);
    if (status == COLLET_OK)
        status = array_create_on(array->storage, &view, array, context_error(cx));
    if (status == COLLET_OK)
        *value = add(r, VALUE_CONSTANT, view);
    return status;
}

/* ---- Steps ------------------------------------------------------------------------------- */

/* Allocates a step whose inputs are `ins`; the numbers of its outputs are not known yet. NULL with an error. */
static recorded_step *step_new(collet_context *cx, const collet_recording *r, uint32_t n_out,
                               const uint32_t *ins, uint32_t n_in, const void *extra, size_t bytes)
{
    for (uint32_t i = 0; i < n_in; i++)
        if (ins[i] != ABSENT && ins[i] >= r->n_values) {
            context_fail(cx, COLLET_INVALID,
                         "recording: operand %" PRIu32 " is the value %" PRIu32
                         ", and there are %" PRIu32,
                         i, ins[i], r->n_values);
            return NULL;
        }
    recorded_step *s = calloc(1, sizeof *s + (n_out + n_in) * sizeof *s->values);
    void *copy = s && extra ? malloc(bytes + 1) : NULL;
    if (!s || (extra && !copy)) {
        free(s);
        context_fail(cx, COLLET_NO_MEMORY, "out of memory for a step of a recording");
        return NULL;
    }
    s->n_out = n_out;
    s->n_in = n_in;
    s->extra = copy;
    if (copy)
        memcpy(copy, extra, bytes);
    if (n_in)
        memcpy(s->values + n_out, ins, n_in * sizeof *ins);
    return s;
}

static void spec_of(const collet_recording *r, uint32_t value, collet_array_spec *spec)
{
    spec->ndim = COLLET_ABSENT;
    if (value == ABSENT)
        return;
    const collet_array *a = r->values[value].like;
    spec->dtype = a->dtype;
    spec->ndim = a->ndim;
    memcpy(spec->shape, a->shape, (size_t)a->ndim * sizeof *a->shape);
}

/* Adds the step with outputs of these specs, or frees it. */
static collet_status add_step(collet_context *cx, collet_recording *r, recorded_step *s,
                              const collet_array_spec *outs, uint32_t *values)
{
    collet_array *made[COLLET_EXPRESSION_OUTPUTS] = {NULL};
    collet_status status = reserve(cx, r, s->n_out);
    for (uint32_t i = 0; status == COLLET_OK && i < s->n_out; i++)
        if (outs[i].ndim != COLLET_ABSENT)
            status = array_create(r->runtime, &made[i], outs[i].dtype, outs[i].ndim, outs[i].shape,
                                  context_error(cx));
    if (status != COLLET_OK) {
        for (uint32_t i = 0; i < s->n_out; i++)
            collet_array_destroy(made[i]);
        step_free(s);
        return status;
    }
    for (uint32_t i = 0; i < s->n_out; i++)
        values[i] = s->values[i] = made[i] ? add(r, VALUE_MADE, made[i]) : ABSENT;
    r->steps[r->n_steps++] = s;
    return COLLET_OK;
}

/* The op of a call. NULL with an error. */
static const op *op_of(collet_context *cx, uint32_t id, const uint32_t *ins)
{
    const op *o = runtime_op(cx->runtime, id);
    if (!o)
        context_fail(cx, COLLET_NOT_FOUND, "recording: there is no op with the id %" PRIu32, id);
    else if (id == COLLET_OP_EVALUATE)
        context_fail(cx, COLLET_INVALID,
                     "recording: the op evaluate is for backends: add an evaluation of an expression instead");
    else if (o->n_in && !ins)
        context_fail(cx, COLLET_INVALID, "recording: %s: the list of inputs is NULL", o->name);
    else
        return o;
    return NULL;
}

collet_status collet_recording_call(collet_context *cx, collet_recording *r, uint32_t *values,
                                    uint32_t id, const uint32_t *ins,
                                    const collet_array_spec *specs, const void *params)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, r);
    COLLET_FLOATING_SCOPE;
    _Alignas(16) unsigned char copy[OP_PARAMS_MAX];
    collet_array_spec outs[COLLET_MAX_OPERANDS], given[COLLET_MAX_OPERANDS];
    collet_status status = begin(cx, r, values);
    const op *o = status == COLLET_OK ? op_of(cx, id, ins) : NULL;
    if (!o)
        return status == COLLET_OK ? collet_last_status(cx) : status;
    status = op_params(o, params, copy, &params, context_error(cx));
    if (status != COLLET_OK)
        return status;
    recorded_step *s = step_new(cx, r, o->n_out, ins, o->n_in, params, o->params_size);
    if (!s)
        return collet_last_status(cx);
    s->op = id;
    for (uint32_t i = 0; i < o->n_out; i++)
        outs[i] = specs ? specs[i] : (collet_array_spec){.ndim = COLLET_INFER};
    for (uint32_t i = 0; i < o->n_in; i++)
        spec_of(r, ins[i], &given[i]);
    status =
        collet_ops_infer(cx->runtime, id, outs, given, sizeof *outs, params, context_error(cx));
    if (status == COLLET_OK)
        return add_step(cx, r, s, outs, values);
    step_free(s);
    return status;
}

collet_status collet_recording_evaluate(collet_context *cx, collet_recording *r, uint32_t *values,
                                        collet_expression *e, const uint32_t *ins)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, r, e);
    COLLET_FLOATING_SCOPE;
    collet_array_spec outs[COLLET_EXPRESSION_OUTPUTS], given[COLLET_EXPRESSION_INPUTS];
    collet_argument arguments[COLLET_EXPRESSION_INPUTS];
    collet_status status = begin(cx, r, e ? values : NULL);
    uint32_t n_in = status == COLLET_OK ? collet_expression_input_count(e) : 0;
    if (status == COLLET_OK && n_in && !ins)
        status = context_fail(cx, COLLET_INVALID, "recording: the list of inputs is NULL");
    for (uint32_t i = 0; status == COLLET_OK && i < n_in; i++)
        if (ins[i] == ABSENT)
            status = context_fail(cx, COLLET_INVALID,
                                  "recording: input %" PRIu32 " of the expression is absent", i);
    if (status != COLLET_OK)
        return status;
    recorded_step *s = step_new(cx, r, collet_expression_output_count(e), ins, n_in, NULL, 0);
    if (!s)
        return collet_last_status(cx);
    s->expression = e;
    for (uint32_t i = 0; i < n_in; i++) {
        spec_of(r, ins[i], &given[i]);
        arguments[i] =
            (collet_argument){.name = collet_expression_input_name(e, i), .spec = &given[i]};
    }
    for (uint32_t i = 0; i < s->n_out; i++)
        outs[i] = (collet_array_spec){.ndim = COLLET_INFER};
    status = collet_expression_infer(e, outs, sizeof *outs, arguments, n_in, context_error(cx));
    if (status == COLLET_OK)
        return add_step(cx, r, s, outs, values);
    step_free(s);
    return status;
}

collet_status collet_recording_view(collet_context *cx, collet_recording *r, uint32_t *value,
                                    uint32_t from, uint32_t view, const int64_t *numbers,
                                    int32_t count)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, r);
    COLLET_FLOATING_SCOPE;
    collet_array *made;
    collet_status status = begin(cx, r, value);
    if (status == COLLET_OK && (count < 0 || count > COLLET_MAX_DIMS || (count && !numbers)))
        status =
            context_fail(cx, COLLET_INVALID,
                         "recording: a view with %" PRId32 " numbers%s; at most %d are allowed",
                         count, numbers ? "" : " and a list that is NULL", COLLET_MAX_DIMS);
    if (status == COLLET_OK && from == ABSENT)
        status = context_fail(cx, COLLET_INVALID, "recording: a view of an absent value");
    if (status == COLLET_OK)
        status = reserve(cx, r, 1);
    if (status != COLLET_OK)
        return status;
    recorded_step *s = step_new(cx, r, 1, &from, 1, numbers, (size_t)count * sizeof *numbers);
    if (!s)
        return collet_last_status(cx);
    s->view = view;
    s->count = count;
    status = steps_view(cx, s, r->values[from].like, &made);
    if (status != COLLET_OK) {
        step_free(s);
        return status;
    }
    *value = s->values[0] = add(r, VALUE_VIEW, made);
    r->values[*value].base = r->values[from].base;
    r->steps[r->n_steps++] = s;
    return COLLET_OK;
}

/* ---- The end ----------------------------------------------------------------------------- */

static collet_status check_results(collet_context *cx, const collet_recording *r,
                                   const uint32_t *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const recorded_value *v = values[i] < r->n_values ? &r->values[values[i]] : NULL;
        if (!v || v->kind != VALUE_MADE)
            return context_fail(cx, COLLET_INVALID,
                                "recording: the returned value %" PRIu32
                                " %s: return the result of a call, for example of copy",
                                values[i],
                                !v                       ? "does not exist"
                                : v->kind == VALUE_INPUT ? "is an input"
                                : v->kind == VALUE_VIEW  ? "is a view"
                                                         : "is a constant");
        for (uint32_t k = 0; k < i; k++)
            if (values[k] == values[i])
                return context_fail(cx, COLLET_INVALID,
                                    "recording: the value %" PRIu32 " is returned twice",
                                    values[i]);
    }
    return COLLET_OK;
}

collet_status collet_recording_complete(collet_context *cx, collet_recording *r,
                                        const uint32_t *values, uint32_t count)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, r);
    collet_status status = begin(cx, r, count ? values : (const void *)r);
    if (status == COLLET_OK)
        status = check_results(cx, r, values, count);
    if (status != COLLET_OK)
        return status;
    uint32_t *outs = malloc((count + 1) * sizeof *outs);
    uint32_t *fresh = malloc((r->n_values + 1) * sizeof *fresh);
    for (uint32_t i = 0; i < count; i++)
        r->values[values[i]].out = (int32_t)i;
    status = outs && fresh ? workspace_plan(r, context_error(cx))
                           : context_fail(cx, COLLET_NO_MEMORY, "out of memory for a recording");
    if (status != COLLET_OK) {
        for (uint32_t i = 0; i < count; i++)
            r->values[values[i]].out = -1;
        free(outs);
        free(fresh);
        return status;
    }
    if (count)
        memcpy(outs, values, count * sizeof *outs);
    for (uint32_t i = 0; i < r->n_values; i++) {
        const recorded_value *base = &r->values[r->values[i].base];
        if (r->values[i].kind == VALUE_VIEW && (base->kind == VALUE_INPUT || base->out >= 0))
            fresh[r->n_fresh++] = i;
    }
    r->outs = outs;
    r->n_out = count;
    r->fresh = fresh;
    r->complete = 1;
    return COLLET_OK;
}
