/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_call.c, tests/core/test_fallback.c, tests/core/test_operands.c */
#include "call.h"

#include <stdio.h>
#include <string.h>

#include <collet/floating.h>

#include "device/open.h"
#include "device/own_ops.h"
#include "device/rows.h"
#include "frame.h"
#include "predict.h"
#include "timeline/origins.h"
#include "timeline/span.h"

/* Retired memory is freed once in this number of calls, because freeing queries the device, which takes about a
 * microsecond. */
#define CALLS_COLLECT 16

/* ---- Running ----------------------------------------------------------------------------- */

/* Copies inputs to their temporaries; called when a device has accepted the call. */
static collet_status fill_temporaries(frame *f)
{
    while (f->temporaries_filled < f->temporary_count) {
        uint32_t k = f->temporaries_filled;
        collet_status status = call_copy(f->cx, f->temporaries[k], f->originals[k]);
        if (status != COLLET_OK) {
            f->err = *f->error;
            return status;
        }
        f->cx->counters.temporaries++;
        f->temporaries_filled++;
    }
    return COLLET_OK;
}

/* Operands are bound inputs first, then outputs. Returns the number of the k-th operand that is
 * bound. */
static uint32_t bound_index(const frame *f, uint32_t k)
{
    return k < f->op->n_in ? f->op->n_out + k : k - f->op->n_in;
}

/* Ends the uses of the first `count` operands that were bound. The kernel did not run. */
__attribute__((cold, noinline)) static void drop_operands(const frame *f, uint32_t count,
                                                          const int *commit)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = bound_index(f, k);
        if (commit[i])
            storage_drop_use(f->arrays[i]->storage, i < f->op->n_out ? COLLET_WRITE : COLLET_READ);
    }
}

/* Makes every operand usable in the device's space. Inputs first: a storage that is input and
 * output must be valid before it is declared written. */
static collet_status bind_operands(frame *f, queue *q, int *commit)
{
    const int checked = programs_checked(); /* if programs are checked, every use is checked, too */
    f->from.count = 0;
    for (uint32_t k = 0; k < f->count; k++) {
        uint32_t i = bound_index(f, k);
        const collet_array *a = f->arrays[i];
        collet_operand *o = &f->operands[i];
        int32_t access = i < f->op->n_out ? COLLET_WRITE : COLLET_READ;
        commit[i] = 0;
        if (!a)
            continue;
        if (!checked && storage_settled(a->storage, q)) {
            o->buffer = a->storage->host.memory;
        } else {
            int whole = access == COLLET_WRITE && array_is_whole(a);
            collet_status status = storage_use(a->storage, q, access, whole, &o->buffer, &commit[i],
                                               &f->from, &f->cx->moved, &f->err);
            if (status != COLLET_OK) {
                drop_operands(f, k, commit);
                return status;
            }
        }
    }
    return COLLET_OK;
}

static void commit_operands(const frame *f, queue *q, uint64_t ticket, const int *commit)
{
    for (uint32_t k = 0; k < f->count; k++) {
        uint32_t i = bound_index(f, k);
        if (commit[i])
            storage_commit(f->arrays[i]->storage, q, ticket,
                           i < f->op->n_out ? COLLET_WRITE : COLLET_READ, &f->from);
    }
}

/* Moves results to shared memory before the call returns. */
static collet_status settle_operands(frame *f)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; status == COLLET_OK && i < f->count; i++)
        if (f->arrays[i] && storage_is_shared(f->arrays[i]->storage))
            status = storage_settle_shared(f->arrays[i]->storage, &f->cx->moved, &f->err);
    return status == COLLET_OK || status == COLLET_DEVICE_LOST ? status : COLLET_FAILED;
}

/* Prefixes the device's text with op, device and operands. */
static collet_status device_failed(frame *f, const device *d, collet_status status)
{
    char why[COLLET_ERROR_TEXT];
    memcpy(why, f->err.text, sizeof why);
    text_buffer t;
    text_clear(&t);
    text_add(&t, "%s on %s (", f->op->name, d->name);
    frame_operands_text(&t, f);
    text_add(&t, "): %s", *why ? why : collet_status_text(status));
    return collet_fail(&f->err, status, "%s", t.bytes);
}

static void trace_kernel(const frame *f, queue *q, span *traced, collet_status status)
{
    text_buffer operands;
    text_clear(&operands);
    frame_operands_text(&operands, f);
    span_end(traced, q, "kernel", f->op->name, operands.bytes, status);
}

static collet_status run_row(frame *f, device *d, lane *l, const collet_kernel_row *row,
                             collet_kernel_call *call)
{
    int commit[COLLET_MAX_OPERANDS];
    queue *q = l->queue;
    /* Copies first, because they use the lane's scratch, too. */
    collet_status status = fill_temporaries(f);
    if (status == COLLET_OK && call->workspace_bytes)
        status = lane_scratch(l, call->workspace_bytes, &call->workspace, &f->err);
    if (status == COLLET_OK)
        status = bind_operands(f, q, commit);
    if (status != COLLET_OK)
        return status;
    uint64_t ticket = 0;
    if (d->direct) {
        status = row->run(d->handle, q->handle, call);
    } else {
        span traced;
        span_begin(&traced, q);
        status = queue_lock(q, &f->err);
        if (status != COLLET_OK) {
            span_drop(&traced);
            drop_operands(f, f->count, commit);
            return status;
        }
        device_enter(d);
        status = row->run(d->handle, q->handle, call);
        device_leave(d, COLLET_OK);
        ticket = l->enqueued = queue_unlock(q);
        if (traced.begin)
            trace_kernel(f, q, &traced, status);
        origins_enqueued(&f->from, q);
        if (f->cx->counters.calls % CALLS_COLLECT == 0)
            blocks_collect(d, 0);
    }
    if (status != COLLET_OK)
        status = frame_kernel_status(f, d, status);
    if (status == COLLET_REFUSED)
        drop_operands(f, f->count, commit);
    else
        commit_operands(f, q, ticket, commit);
    if (status == COLLET_OK && f->from.count)
        origins_add_all(&l->origins, &f->from);
    return status == COLLET_OK ? settle_operands(f) : status;
}

typedef enum outcome { SERVED, TRY_NEXT, GIVE_UP } outcome;

static collet_status no_kernel(frame *f, const device *d)
{
    if (own_op_left_out(d->owner, f->op->name))
        collet_fail(
            &f->err, COLLET_UNSUPPORTED,
            "its own definition of this op was left out: see the log or backend-info --why");
    else if (device_find_row(d, f->op->id, 0, 0))
        collet_fail(&f->err, COLLET_UNSUPPORTED, "it has no kernel for these dtypes");
    else
        return collet_fail(&f->err, COLLET_UNSUPPORTED, "%s has no kernel %s", d->name,
                           f->op->name);
    return device_failed(f, d, COLLET_UNSUPPORTED);
}

/* Tries one device. If it did not run the call, f->err has the reason. */
static outcome try_device(frame *f, device *d)
{
    collet_kernel_call call;
    lane *l;
    f->err.text[0] = '\0';
    collet_status status = device_open(d, &f->err);
    if (status != COLLET_OK) {
        device_failed(f, d, status);
        return TRY_NEXT;
    }
    const collet_kernel_row *row = device_find_row(d, f->op->id, f->sig, f->mask);
    if (!row) {
        no_kernel(f, d);
        return TRY_NEXT;
    }
    status = frame_accept(f, d, row, &call);
    if (status == COLLET_OK)
        status = context_lane(f->cx, d, &l, &f->err);
    if (status == COLLET_OK)
        status = run_row(f, d, l, row, &call);
    if (status == COLLET_OK) {
        f->cx->last_backend = device_called(d);
        return SERVED;
    }
    device_failed(f, d, status);
    return status == COLLET_REFUSED || status == COLLET_NO_MEMORY ? TRY_NEXT : GIVE_UP;
}

static void count_fallback(frame *f, const device *chosen, const device *served, const char *why)
{
    collet_runtime *r = f->cx->runtime;
    f->cx->counters.fallbacks++;
    if (!atomic_exchange(&r->fallback_logged, 1))
        log_message(
            &r->log, COLLET_LOG_WARNING,
            "%s ran on %s instead of %s: %s (logged once; the counter of fallbacks continues)",
            f->op->name, served->name, chosen->name, why);
}

uint32_t call_preferred(const frame *f)
{
    const selection *s = &f->cx->selection;
    if (!s->automatic)
        return 0;
    if (f->cx->runtime->crossovers && predict_worth(f->cx->runtime, f->op, f->arrays)) {
        int32_t fastest = predict_first(f->op, f->arrays, f->sig, f->mask, s);
        if (fastest >= 0)
            return (uint32_t)fastest;
    }
    for (uint32_t k = 0; k < s->count; k++) {
        device *d = s->devices[k];
        if (atomic_load(&d->state) != DEVICE_OPEN || d->space == 0)
            continue;
        for (uint32_t i = f->op->n_out; i < f->count; i++)
            if (f->arrays[i] && storage_valid_only_on(f->arrays[i]->storage, d) &&
                device_find_row(d, f->op->id, f->sig, f->mask))
                return k;
    }
    return 0;
}

int call_falls_back(const frame *f)
{
    return f->cx->fallback < 0 ? f->cx->selection.several : f->cx->fallback;
}

device *call_device(frame *f, uint32_t first, uint32_t k)
{
    selection *s = &f->cx->selection;
    int any = s->automatic || f->cx->fallback == 1;
    if (k >= (any ? s->total : s->count) && !(any && selection_extend(f->cx->runtime, s)))
        return NULL;
    return s->devices[k == 0 ? first : k <= first ? k - 1 : k];
}

void call_remedy(const frame *f, char text[256])
{
    text[0] = '\0';
    if (!strchr(f->op->name, '.')) /* only one backend has a plugin's own op */
        selection_remedy(f->cx->runtime, &f->cx->selection, f->cx->fallback, text);
}

static collet_status run(frame *f)
{
    device *d;
    int allowed = call_falls_back(f);
    uint32_t first = call_preferred(f);
    char why[256];
    why[0] = '\0';
    /* The error of the first device that has the kernel or, if none has it, of the first device. */
    collet_error reported;
    reported.status = COLLET_UNSUPPORTED;
    reported.text[0] = '\0';
    for (uint32_t k = 0; (d = call_device(f, first, k)); k++) {
        outcome tried = try_device(f, d);
        if (tried == SERVED) {
            f->cx->counters.calls++;
            if (k)
                count_fallback(f, f->cx->selection.devices[first], d, why);
            return COLLET_OK;
        }
        if (!k || tried == GIVE_UP ||
            (reported.status == COLLET_UNSUPPORTED && f->err.status != COLLET_UNSUPPORTED))
            reported = f->err;
        if (tried == GIVE_UP || !allowed)
            break;
        if (!k)
            snprintf(why, sizeof why, "%.255s", f->err.text);
    }
    why[0] = '\0';
    if (reported.status == COLLET_UNSUPPORTED && !allowed)
        call_remedy(f, why);
    return context_fail(f->cx, reported.status, "%s%s", reported.text, why);
}

static collet_status call(collet_context *cx, uint32_t id, collet_array *const *outs,
                          const collet_array *const *ins, const void *params)
{
    COLLET_FLOATING_SCOPE;
    frame f;
    collet_status status = frame_begin(&f, cx, id, outs, ins, params);
    if (status == COLLET_OK && !f.empty)
        status = run(&f);
    frame_end(&f);
    return status;
}

/* This function is not inline, because the buffer of its text must not take stack while a kernel runs. */
__attribute__((cold, noinline)) static void
write_call(const collet_context *cx, uint32_t id, collet_array *const *outs,
           const collet_array *const *ins, collet_status status, int64_t begin, int64_t end)
{
    const op *o = runtime_op(cx->runtime, id);
    text_buffer operands;
    text_clear(&operands);
    for (uint32_t i = 0; status == COLLET_OK && i < o->n_out + o->n_in; i++)
        frame_operand_text(&operands, o, i, i < o->n_out ? outs[i] : ins[i - o->n_out]);
    trace_write(cx->runtime->trace,
                &(trace_event){.category = "call",
                               .name = o ? o->name : "unknown",
                               .device = status == COLLET_OK ? cx->last_backend : "",
                               .detail = operands.bytes,
                               .clock = "host",
                               .begin = begin,
                               .end = end,
                               .row = trace_here(TRACE_HOST)});
}

__attribute__((cold, noinline)) static collet_status call_traced(collet_context *cx, uint32_t id,
                                                                 collet_array *const *outs,
                                                                 const collet_array *const *ins,
                                                                 const void *params)
{
    int64_t begin = trace_now();
    collet_status status = call(cx, id, outs, ins, params);
    if (runtime_alive(cx->runtime))
        write_call(cx, id, outs, ins, status, begin, trace_now());
    return status;
}

__attribute__((cold, noinline)) int call_operands_fault(collet_context *cx, uint32_t id,
                                                        collet_array *const *outs,
                                                        const collet_array *const *ins)
{
    const op *o = cx ? runtime_op(cx->runtime, id) : NULL;
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; o && outs && i < o->n_out && status == COLLET_OK; i++)
        status = programs_exists(context_error(cx), outs[i]);
    for (uint32_t i = 0; o && ins && i < o->n_in && status == COLLET_OK; i++)
        status = programs_exists(context_error(cx), ins[i]);
    return status != COLLET_OK;
}

collet_status collet_call(collet_context *cx, uint32_t id, collet_array *const *outs,
                          const collet_array *const *ins, const void *params)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx);
    if (program_scope.function && call_operands_fault(cx, id, outs, ins))
        return COLLET_INVALID;
    return __builtin_expect(cx && cx->runtime->trace, 0) ? call_traced(cx, id, outs, ins, params)
                                                         : call(cx, id, outs, ins, params);
}

/* Copies by libcore itself must work even if the backend has no copy kernel for the dtype, is out
 * of memory, or is lost. */
collet_status call_copy(collet_context *cx, collet_array *to, const collet_array *from)
{
    collet_error *error = context_error(cx), before = *error;
    collet_status status = collet_call(cx, COLLET_OP_COPY, &to, &from, NULL);
    if (status != COLLET_UNSUPPORTED && status != COLLET_REFUSED && status != COLLET_UNAVAILABLE &&
        status != COLLET_DEVICE_LOST)
        return status;
    *error = before;
    return array_copy_on_host(cx, to, from);
}
