/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_call.c, tests/core/test_fallback.c, tests/core/test_operands.c */
#include "call.h"

#include <stdio.h>
#include <string.h>

#include <collet/floating.h>

#include "device/open.h"
#include "device/own_ops.h"
#include "device/rows.h"
#include "memory/access.h"
#include "op/check.h"
#include "op/elementwise.h"
#include "op/order.h"
#include "predict.h"
#include "timeline/origins.h"
#include "timeline/span.h"
#include "util/text.h"

/* Retired memory is freed once in so many calls, because that takes about a microsecond: it queries
 * the device. */
#define CALLS_COLLECT 16

/* The state of one call, on the caller's stack, so that a call does not allocate. */
typedef struct frame {
    collet_context *cx;
    collet_error *error; /* the context's error for this thread */
    const op *op;
    uint32_t count;
    uint64_t sig, mask;
    const collet_array *arrays[COLLET_MAX_OPERANDS]; /* outputs first */
    collet_array *temporaries[COLLET_MAX_OPERANDS];
    const collet_array *originals[COLLET_MAX_OPERANDS]; /* arrays that temporaries replace */
    uint32_t temporary_count, temporaries_filled;
    op_shapes views;
    collet_operand operands[COLLET_MAX_OPERANDS];
    origins from;     /* origins of the bytes that the call writes */
    collet_error err; /* error of one device; the context's error is set only if the call fails */
    const void *params;
    _Alignas(16) unsigned char params_copy[OP_PARAMS_MAX];
    op_scratch scratch[COLLET_MAX_OPERANDS];
} frame;

/* ---- Checking ---------------------------------------------------------------------------- */

static const int64_t *values_on_host(const collet_array *a)
{
    return a->dtype == COLLET_I64 &&
                   atomic_load_explicit(&a->storage->settled, memory_order_acquire)
               ? (const void *)((const char *)a->storage->host.memory + a->offset)
               : NULL;
}

static collet_status take_operand(frame *f, uint32_t i, const collet_array *a)
{
    char name[OP_OPERAND_TEXT];
    f->arrays[i] = a;
    f->views.operand[i] = (struct op_view){.shape = NULL};
    if (!a) {
        if (f->op->operand[i].optional)
            return COLLET_OK;
        return context_fail(f->cx, COLLET_INVALID, "%s: %s is NULL", f->op->name,
                            op_operand_name(f->op, i, name));
    }
    if (a->storage->runtime != f->cx->runtime)
        return context_fail(f->cx, COLLET_INVALID, "%s: %s belongs to another runtime", f->op->name,
                            op_operand_name(f->op, i, name));
    f->sig |= COLLET_SIG_AT(i, a->dtype);
    f->mask |= COLLET_SIG_AT(i, (1u << COLLET_SIG_BITS) - 1);
    f->views.operand[i] =
        (struct op_view){a->ndim, a->shape, a->strides, a->dtype, values_on_host(a)};
    return COLLET_OK;
}

static collet_status take_operands(frame *f, collet_array *const *outs,
                                   const collet_array *const *ins)
{
    const op *o = f->op;
    if (!outs || (o->n_in && !ins))
        return context_fail(f->cx, COLLET_INVALID, "%s: the list of %s is NULL", o->name,
                            outs ? "inputs" : "outputs");
    f->count = o->n_out + o->n_in;
    for (uint32_t i = 0; i < f->count; i++) {
        collet_status status = take_operand(f, i, i < o->n_out ? outs[i] : ins[i - o->n_out]);
        if (status != COLLET_OK)
            return status;
    }
    return COLLET_OK;
}

static collet_status check_outputs(frame *f)
{
    char name[OP_OPERAND_TEXT], other[OP_OPERAND_TEXT];
    for (uint32_t i = 0; i < f->op->n_out; i++) {
        const collet_array *a = f->arrays[i];
        if (!a)
            continue;
        if (a->repeats)
            return context_fail(
                f->cx, COLLET_INVALID,
                "%s: %s repeats elements (a broadcast view, or strides that overlap) "
                "and cannot be written",
                f->op->name, op_operand_name(f->op, i, name));
        if (a->storage->readonly)
            return context_fail(f->cx, COLLET_INVALID,
                                "%s: %s wraps read-only memory and cannot be written", f->op->name,
                                op_operand_name(f->op, i, name));
        for (uint32_t k = 0; k < i; k++)
            if (f->arrays[k] && array_overlaps(a, f->arrays[k]))
                return context_fail(f->cx, COLLET_INVALID, "%s: the outputs %s and %s overlap",
                                    f->op->name, op_operand_name(f->op, k, name),
                                    op_operand_name(f->op, i, other));
    }
    return COLLET_OK;
}

/* ---- Overlaps ---------------------------------------------------------------------------- */

static int needs_temporary(const frame *f, uint32_t i)
{
    const collet_array *in = f->arrays[i];
    int allowed = f->op->alias == 1 || (f->op->alias == 2 && i == f->op->n_out);
    for (uint32_t k = 0; k < f->op->n_out; k++) {
        const collet_array *out = f->arrays[k];
        if (out && array_overlaps(in, out) && !(allowed && !f->views.apart && array_same(in, out)))
            return 1;
    }
    return 0;
}

static collet_status make_temporary(frame *f, uint32_t i)
{
    const collet_array *in = f->arrays[i];
    collet_array *temporary;
    collet_status status =
        array_create(f->cx->runtime, &temporary, in->dtype, in->ndim, in->shape, f->error);
    if (status != COLLET_OK)
        return status;
    f->originals[f->temporary_count] = in;
    f->temporaries[f->temporary_count++] = temporary;
    f->arrays[i] = temporary;
    f->views.operand[i] = (struct op_view){temporary->ndim, temporary->shape, temporary->strides,
                                           temporary->dtype, NULL};
    return COLLET_OK;
}

static collet_status resolve_overlaps(frame *f)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = f->op->n_out; status == COLLET_OK && i < f->count; i++)
        if (f->arrays[i] && needs_temporary(f, i))
            status = make_temporary(f, i);
    return status;
}

/* Called when a device has accepted the call. */
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

/* ---- Running ----------------------------------------------------------------------------- */

/* Sets the operands except for their buffers, which depend on the device. */
static void describe_operands(frame *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const collet_array *a = f->arrays[i];
        collet_operand *o = &f->operands[i];
        *o = (collet_operand){0};
        if (!a)
            continue;
        o->byte_offset = a->offset;
        o->dtype = a->dtype;
        o->ndim = f->views.operand[i].ndim;
        o->shape = f->views.operand[i].shape;
        o->strides = f->views.operand[i].strides;
    }
}

/* Makes every operand usable in the device's space. Inputs first: a storage that is input and
 * output must be valid before it is declared written. */
static collet_status bind_operands(frame *f, queue *q, int *commit)
{
    f->from.count = 0;
    for (uint32_t k = 0; k < f->count; k++) {
        uint32_t i = k < f->op->n_in ? f->op->n_out + k : k - f->op->n_in;
        const collet_array *a = f->arrays[i];
        collet_operand *o = &f->operands[i];
        int32_t access = i < f->op->n_out ? COLLET_WRITE : COLLET_READ;
        commit[i] = 0;
        if (!a)
            continue;
        if (storage_settled(a->storage, q)) {
            o->buffer = a->storage->host.memory;
        } else {
            int whole = access == COLLET_WRITE && array_is_whole(a);
            collet_status status = storage_use(a->storage, q, access, whole, &o->buffer, &commit[i],
                                               &f->from, &f->cx->moved, &f->err);
            if (status != COLLET_OK)
                return status;
        }
    }
    return COLLET_OK;
}

static void commit_operands(const frame *f, queue *q, uint64_t ticket, const int *commit)
{
    for (uint32_t k = 0; k < f->count; k++) {
        uint32_t i = k < f->op->n_in ? f->op->n_out + k : k - f->op->n_in;
        if (commit[i])
            storage_commit(f->arrays[i]->storage, q, ticket,
                           i < f->op->n_out ? COLLET_WRITE : COLLET_READ, &f->from);
    }
}

/* Results in shared memory are there when the call returns. */
static collet_status settle_operands(frame *f)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; status == COLLET_OK && i < f->count; i++)
        if (f->arrays[i] && storage_is_shared(f->arrays[i]->storage))
            status = storage_settle_shared(f->arrays[i]->storage, &f->cx->moved, &f->err);
    return status == COLLET_OK || status == COLLET_DEVICE_LOST ? status : COLLET_FAILED;
}

/* Adds an operand to "f32 4 x 4 <- f32 4 x 4, absent". */
static void add_operand(text_buffer *t, const op *o, uint32_t i, const collet_array *a)
{
    text_add(t, "%s%s",
             i == o->n_out ? " <- "
             : i           ? ", "
                           : "",
             a ? collet_dtype_name(a->dtype) : "absent");
    if (a) {
        text_add(t, " ");
        text_add_shape(t, a->ndim, a->shape);
    }
}

static void add_operands(text_buffer *t, const frame *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        add_operand(t, f->op, i, f->arrays[i]);
}

/* Prefixes the device's text with op, device and operands. */
static collet_status device_failed(frame *f, const device *d, collet_status status)
{
    char why[COLLET_ERROR_TEXT];
    memcpy(why, f->err.text, sizeof why);
    text_buffer t;
    text_clear(&t);
    text_add(&t, "%s on %s (", f->op->name, d->name);
    add_operands(&t, f);
    text_add(&t, "): %s", *why ? why : collet_status_text(status));
    return collet_fail(&f->err, status, "%s", t.bytes);
}

/* Kernels may return only four statuses; after any other the outputs are undefined. */
static collet_status kernel_status(frame *f, device *d, collet_status status)
{
    if (status == COLLET_OK || status == COLLET_REFUSED || status == COLLET_FAILED)
        return status;
    if (status == COLLET_DEVICE_LOST)
        return device_note_status(d, status);
    return collet_fail(
        &f->err, COLLET_FAILED,
        "the kernel returned %s (%d); kernels return only OK, REFUSED, FAILED or DEVICE_LOST",
        collet_status_name(status), status);
}

/* Refuses parameters that the row was not compiled for. */
static collet_status check_params(frame *f, const collet_kernel_row *row)
{
    const unsigned char *params = f->params;
    for (uint32_t i = row->params_size; i < f->op->params_size; i++)
        if (params[i])
            return collet_fail(&f->err, COLLET_REFUSED,
                               "its kernel supports only the first %u of the %u bytes of "
                               "parameters, and byte %u is not 0",
                               row->params_size, f->op->params_size, i);
    return COLLET_OK;
}

static collet_status ask_row(frame *f, device *d, const collet_kernel_row *row,
                             collet_kernel_call *call)
{
    for (uint32_t i = 0; i < f->count; i++)
        f->operands[i].buffer = NULL; /* it may be of a device tried before */
    device_enter(d);
    collet_status status = row->accepts(d->handle, call, &call->workspace_bytes);
    device_leave(d, COLLET_OK);
    return status == COLLET_OK ? status : kernel_status(f, d, status);
}

static collet_status accept_call(frame *f, device *d, const collet_kernel_row *row,
                                 collet_kernel_call *call)
{
    collet_status status = COLLET_OK;
    *call = (collet_kernel_call){.struct_size = sizeof *call,
                                 .op = row->op,
                                 .sig = f->sig,
                                 .n_out = f->op->n_out,
                                 .n_in = f->op->n_in,
                                 .operand_size = sizeof(collet_operand),
                                 .params_size = f->params ? f->op->params_size : 0,
                                 .operands = f->operands,
                                 .params = f->params,
                                 .err = &f->err};
    if (row->params_size < f->op->params_size)
        status = check_params(f, row);
    if (status == COLLET_OK && row->accepts)
        status = ask_row(f, d, row, call);
    return status;
}

static void trace_kernel(const frame *f, queue *q, span *traced, collet_status status)
{
    text_buffer operands;
    text_clear(&operands);
    add_operands(&operands, f);
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
        status = kernel_status(f, d, status);
    if (status != COLLET_REFUSED)
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
    status = accept_call(f, d, row, &call);
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

/* With auto the fastest device is tried first, where devices were measured; else one that has the only
 * valid copy of an input. */
static uint32_t preferred(const frame *f, const selection *s)
{
    if (!s->automatic)
        return 0;
    if (predict_worth(f->cx->runtime, f->op, f->arrays)) {
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

static collet_status run(frame *f)
{
    selection *s = &f->cx->selection;
    int allowed = f->cx->fallback < 0 ? s->several : f->cx->fallback;
    int any = s->automatic || f->cx->fallback == 1;
    uint32_t first = preferred(f, s);
    char why[256];
    why[0] = '\0';
    /* Keeps the error of the first device that has the kernel, else of the first device. */
    collet_error reported;
    reported.status = COLLET_UNSUPPORTED;
    reported.text[0] = '\0';
    for (uint32_t k = 0;
         k < (any ? s->total : s->count) || (any && selection_extend(f->cx->runtime, s)); k++) {
        /* device `first`, then the others in order */
        device *d = s->devices[k == 0 ? first : k <= first ? k - 1 : k];
        outcome tried = try_device(f, d);
        if (tried == SERVED) {
            f->cx->counters.calls++;
            if (k)
                count_fallback(f, s->devices[first], d, why);
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
    if (reported.status == COLLET_UNSUPPORTED && !allowed && !strchr(f->op->name, '.'))
        selection_remedy(f->cx->runtime, s, f->cx->fallback, why); /* others lack ops of plugins */
    return context_fail(f->cx, reported.status, "%s%s", reported.text, why);
}

static int nothing_to_do(const frame *f)
{
    for (uint32_t i = 0; i < f->op->n_out; i++)
        if (f->arrays[i] && f->arrays[i]->size)
            return 0;
    return 1;
}

/* `evaluate` with a reduction whose results do not depend on the order of the axes. */
static void sort_reduced(frame *f)
{
    collet_evaluate_params *p = (void *)f->params_copy;
    uint32_t reduce = ((const collet_evaluate_params *)f->params)->program->reduce;
    if (reduce == COLLET_OP_ARGMIN || reduce == COLLET_OP_ARGMAX)
        return;
    if (f->params != f->params_copy)
        memcpy(p, f->params, sizeof *p);
    p->axes = op_sort_reduced(&f->views, f->op->n_out, f->op->n_in, p->axes, p->keepdims != 0,
                              f->scratch);
    f->params = p;
}

static collet_status call_checked(frame *f)
{
    collet_status status = op_check(f->op, f->sig, &f->views, f->params, f->scratch, f->error);
    if (status == COLLET_OK)
        status = check_outputs(f);
    if (status != COLLET_OK || nothing_to_do(f))
        return status;
    status = resolve_overlaps(f);
    if (status == COLLET_OK && f->temporary_count)
        status = op_check_shapes(f->op, &f->views, f->params, f->scratch, f->error);
    if (status != COLLET_OK)
        return status;
    if (f->op->elementwise || f->views.merge)
        op_merge_axes(&f->views, f->count, f->views.merge || elementwise_of(f->op->id) != NULL,
                      f->scratch);
    else if (f->views.apart)
        sort_reduced(f);
    describe_operands(f);
    return run(f);
}

static collet_status call(collet_context *cx, uint32_t id, collet_array *const *outs,
                          const collet_array *const *ins, const void *params)
{
    COLLET_FLOATING_SCOPE;
    frame f;
    if (!cx)
        return COLLET_INVALID;
    f.error = context_error(cx);
    if (!f.error)
        return COLLET_NO_MEMORY;
    if (!runtime_alive(cx->runtime))
        return runtime_forked(f.error);
    f.op = runtime_op(cx->runtime, id);
    if (!f.op)
        return context_fail(cx, COLLET_NOT_FOUND, "there is no op with the id %u", id);
    f.cx = cx;
    f.sig = f.mask = 0;
    f.temporary_count = f.temporaries_filled = 0;
    f.views.open = NULL;
    f.views.merge = f.views.apart = 0;
    collet_status status = take_operands(&f, outs, ins);
    if (status == COLLET_OK)
        status = op_params(f.op, params, f.params_copy, &f.params, f.error);
    if (status == COLLET_OK)
        status = call_checked(&f);
    for (uint32_t i = 0; i < f.temporary_count; i++)
        collet_array_destroy(f.temporaries[i]);
    return status;
}

__attribute__((cold, noinline)) static collet_status call_traced(collet_context *cx, uint32_t id,
                                                                 collet_array *const *outs,
                                                                 const collet_array *const *ins,
                                                                 const void *params)
{
    int64_t begin = trace_now();
    collet_status status = call(cx, id, outs, ins, params);
    int64_t end = trace_now();
    if (!runtime_alive(cx->runtime))
        return status;
    const op *o = runtime_op(cx->runtime, id);
    text_buffer operands;
    text_clear(&operands);
    for (uint32_t i = 0; status == COLLET_OK && i < o->n_out + o->n_in; i++)
        add_operand(&operands, o, i, i < o->n_out ? outs[i] : ins[i - o->n_out]);
    trace_write(cx->runtime->trace,
                &(trace_event){.category = "call",
                               .name = o ? o->name : "unknown",
                               .device = status == COLLET_OK ? cx->last_backend : "",
                               .detail = operands.bytes,
                               .clock = "host",
                               .begin = begin,
                               .end = end,
                               .row = trace_here(TRACE_HOST)});
    return status;
}

collet_status collet_call(collet_context *cx, uint32_t id, collet_array *const *outs,
                          const collet_array *const *ins, const void *params)
{
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
