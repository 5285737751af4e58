/* SPDX-License-Identifier: Apache-2.0 */
/* Replays a recording.
 * Tests: tests/core/test_recording.c */
#include <inttypes.h>
#include <string.h>

#include <collet/floating.h>

#include "util/programs.h"
#include "util/text.h"
#include "workspace.h"

static collet_status check_input(collet_context *cx, const collet_recording *r, uint32_t i,
                                 const collet_array *a)
{
    const collet_array *like = r->values[r->ins[i]].like;
    if (!a)
        return context_fail(cx, COLLET_INVALID, "recording: input %" PRIu32 " is NULL", i);
    if (programs_checked() && programs_exists(context_error(cx), a) != COLLET_OK)
        return COLLET_INVALID;
    if (a->storage->runtime != r->runtime)
        return context_fail(cx, COLLET_INVALID,
                            "recording: input %" PRIu32 " belongs to another runtime", i);
    if (a->dtype == like->dtype && a->ndim == like->ndim &&
        !memcmp(a->shape, like->shape, (size_t)a->ndim * sizeof *a->shape))
        return COLLET_OK;
    text_buffer t;
    text_clear(&t);
    text_add(&t, "recording: input %" PRIu32 " is %s ", i, collet_dtype_name(a->dtype));
    text_add_shape(&t, a->ndim, a->shape);
    text_add(&t, ", and was recorded as %s ", collet_dtype_name(like->dtype));
    text_add_shape(&t, like->ndim, like->shape);
    return context_fail(cx, a->dtype == like->dtype ? COLLET_SHAPE : COLLET_DTYPE,
                        "%s: pass such an array, or make another recording", t.bytes);
}

static collet_status check_run(collet_context *cx, const collet_recording *r, collet_array **outs,
                               const collet_array *const *ins)
{
    collet_status status = context_check(cx);
    if (status != COLLET_OK)
        return status;
    if (!r || (r->n_out && !outs) || (r->n_in && !ins))
        return context_fail(cx, COLLET_INVALID, "recording: %s is NULL",
                            !r      ? "the recording"
                            : !outs ? "the list of results"
                                    : "the list of inputs");
    if (r->n_in && (const void *)outs == (const void *)ins)
        return context_fail(cx, COLLET_INVALID,
                            "recording: the list of results is the list of inputs, which would be lost");
    if (!r->complete)
        return context_fail(cx, COLLET_INVALID,
                            "recording: it is not complete: complete it before the first run");
    if (r->runtime != cx->runtime)
        return context_fail(cx, COLLET_INVALID, "recording: it belongs to another runtime");
    for (uint32_t i = 0; status == COLLET_OK && i < r->n_in; i++)
        status = check_input(cx, r, i, ins[i]);
    return status;
}

static collet_array *array_at(const workspace *w, uint32_t value)
{
    return value == COLLET_RECORDING_ABSENT ? NULL : w->now[value];
}

static collet_status evaluate(collet_context *cx, workspace *w, const recorded_step *s)
{
    collet_array *outs[COLLET_EXPRESSION_OUTPUTS];
    for (uint32_t i = 0; i < s->n_out; i++)
        outs[i] = array_at(w, s->values[i]);
    for (uint32_t i = 0; i < s->n_in; i++) {
        w->arguments[i].name = collet_expression_input_name(s->expression, i);
        w->arguments[i].array = array_at(w, s->values[s->n_out + i]);
    }
    return collet_expression_evaluate(cx, s->expression, outs, w->arguments, s->n_in);
}

static collet_status run_step(collet_context *cx, workspace *w, const recorded_step *s)
{
    if (s->view) {
        collet_array **view = &w->now[s->values[0]];
        return *view ? COLLET_OK : steps_view(cx, s, array_at(w, s->values[1]), view);
    }
    if (s->expression)
        return evaluate(cx, w, s);
    collet_array *arrays[COLLET_MAX_OPERANDS];
    const collet_array *ins[COLLET_MAX_OPERANDS];
    for (uint32_t i = 0; i < s->n_out; i++)
        arrays[i] = array_at(w, s->values[i]);
    for (uint32_t i = 0; i < s->n_in; i++)
        ins[i] = array_at(w, s->values[s->n_out + i]);
    return collet_call(cx, s->op, arrays, ins, s->extra);
}

static collet_status run_steps(collet_context *cx, const collet_recording *r, workspace *w)
{
    for (uint32_t k = 0; k < r->n_steps; k++) {
        collet_status status = run_step(cx, w, r->steps[k]);
        if (status != COLLET_OK) {
            char why[COLLET_ERROR_TEXT];
            memcpy(why, context_error(cx)->text, sizeof why);
            return context_fail(cx, status, "recording, step %" PRIu32 ": %s", k, why);
        }
    }
    return COLLET_OK;
}

/* Begins or ends a batch in each queue that the context has on a device with collet.batch/1. */
static void batch(collet_context *cx, const workspace *w, int begins)
{
    for (uint32_t i = 0; i < RUNTIME_DEVICES_MAX; i++) {
        queue *q = cx->lanes[i].queue;
        const collet_batch_extension *table = q ? q->device->extensions.batch : NULL;
        collet_error err;
        if (!table || queue_lock(q, &err) != COLLET_OK)
            continue;
        device_enter(q->device);
        if (begins)
            table->begin(q->device->handle, q->handle, w);
        else
            table->end(q->device->handle, q->handle);
        device_leave(q->device, COLLET_OK);
        (void)queue_unlock(q);
    }
}

/* Makes the arrays that are returned. */
static collet_status begin(collet_context *cx, const collet_recording *r, workspace *w,
                           const collet_array *const *ins)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < r->n_in; i++)
        w->now[r->ins[i]] = (collet_array *)ins[i]; /* no step writes an input */
    for (uint32_t i = 0; status == COLLET_OK && i < r->n_out; i++) {
        const collet_array *like = r->values[r->outs[i]].like;
        status = array_create(r->runtime, &w->now[r->outs[i]], like->dtype, like->ndim, like->shape,
                              context_error(cx));
    }
    return status;
}

/* Destroys the views of this run, and hands over or destroys the results. */
static void finish(const collet_recording *r, workspace *w, collet_array **outs,
                   collet_status status)
{
    for (uint32_t i = 0; i < r->n_fresh; i++) {
        collet_array_destroy(w->now[r->fresh[i]]);
        w->now[r->fresh[i]] = NULL;
    }
    for (uint32_t i = 0; i < r->n_out; i++) {
        collet_array *made = w->now[r->outs[i]];
        w->now[r->outs[i]] = NULL;
        if (status != COLLET_OK)
            collet_array_destroy(made);
        outs[i] = status == COLLET_OK ? made : NULL;
    }
}

collet_status collet_recording_run(collet_context *cx, collet_recording *r, collet_array **results,
                                   const collet_array *const *ins)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, r);
    COLLET_FLOATING_SCOPE;
    workspace *w;
    collet_status status = check_run(cx, r, results, ins);
    if (status == COLLET_OK)
        status = workspace_take(cx, r, &w);
    if (status != COLLET_OK) {
        int apart = results && (const void *)results != (const void *)ins;
        for (uint32_t i = 0; r && apart && r->complete && i < r->n_out; i++)
            results[i] = NULL;
        return status;
    }
    status = begin(cx, r, w, ins);
    int batched = status == COLLET_OK && w->runs == WORKSPACE_KNOWN;
    if (batched)
        batch(cx, w, 1);
    if (status == COLLET_OK)
        status = run_steps(cx, r, w);
    if (batched)
        batch(cx, w, 0);
    w->runs += status == COLLET_OK && w->runs < WORKSPACE_KNOWN;
    finish(r, w, results, status);
    workspace_give_back(r, w);
    return status;
}
