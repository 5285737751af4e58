/* SPDX-License-Identifier: Apache-2.0 */
/* Running a sequence: its arguments, the memory of its slots, its kernels. */
#include "sequence.h"

#include <collet/floating.h>

#include "timeline/origins.h"
#include "util/text.h"

/* ---- Arguments --------------------------------------------------------------------------- */

static int same_layout(const collet_array *a, const collet_array *b)
{
    int same = a->dtype == b->dtype && a->ndim == b->ndim;
    for (int32_t i = 0; same && i < a->ndim; i++)
        same = a->shape[i] == b->shape[i] && a->strides[i] == b->strides[i];
    return same;
}

static void add_layout(text_buffer *t, const collet_array *a)
{
    text_add(t, "%s ", collet_dtype_name(a->dtype));
    text_add_shape(t, a->ndim, a->shape);
    if (!a->contiguous) {
        text_add(t, " with strides ");
        text_add_shape(t, a->ndim, a->strides);
    }
}

static collet_status layout_differs(collet_context *cx, const collet_sequence *s, uint32_t k,
                                    const collet_array *a)
{
    text_buffer t;
    text_clear(&t);
    text_add(&t, "collet_sequence_run: argument %u is ", k);
    add_layout(&t, a);
    text_add(&t, ", but was recorded as ");
    add_layout(&t, &s->specs[k]);
    return context_fail(cx, a->dtype == s->specs[k].dtype ? COLLET_SHAPE : COLLET_DTYPE, "%s",
                        t.bytes);
}

static collet_status argument_check(collet_context *cx, const collet_sequence *s, uint32_t k,
                                    const collet_array *a)
{
    if (a->storage->runtime != s->runtime)
        return context_fail(cx, COLLET_INVALID,
                            "collet_sequence_run: argument %u belongs to another runtime", k);
    if (!same_layout(a, &s->specs[k]))
        return layout_differs(cx, s, k, a);
    if (s->arguments[k] != SEQUENCE_NONE && s->slots[s->arguments[k]].writes &&
        a->storage->readonly)
        return context_fail(cx, COLLET_INVALID,
                            "collet_sequence_run: argument %u is written, but wraps read-only "
                            "memory",
                            k);
    return COLLET_OK;
}

static int is_bound(const slot *l, const collet_array *a)
{
    return l->storage == a->storage && l->view.offset == a->offset;
}

static int is_changed(const collet_sequence *s, uint32_t k, const collet_array *a)
{
    return a && s->arguments[k] != SEQUENCE_NONE && !is_bound(&s->slots[s->arguments[k]], a);
}

/* What slot `number` will use in this run. */
static const collet_array *coming_view(const collet_sequence *s, uint32_t number,
                                       collet_array *const *arguments)
{
    for (uint32_t k = 0; s->slots[number].argument && k < s->argument_count; k++)
        if (s->arguments[k] == number && arguments[k])
            return arguments[k];
    return &s->slots[number].view;
}

/* The temporaries that calls need were decided at the recording. */
static collet_status overlap_check(collet_context *cx, const collet_sequence *s, uint32_t k,
                                   collet_array *const *arguments)
{
    const slot *own = &s->slots[s->arguments[k]];
    for (uint32_t i = 0; i < s->slot_count; i++) {
        const slot *other = &s->slots[i];
        if (other != own && (own->writes || other->writes) &&
            array_overlaps(arguments[k], coming_view(s, i, arguments)))
            return context_fail(cx, COLLET_INVALID,
                                "collet_sequence_run: argument %u overlaps another array of the "
                                "sequence, and one of them is written: record such calls with "
                                "arrays that overlap in the same way",
                                k);
    }
    return COLLET_OK;
}

static void bind(slot *l, const collet_array *a)
{
    storage *before = l->storage;
    storage_retain(a->storage);
    l->storage = a->storage;
    l->view = *a;
    l->memory = NULL;
    storage_release(before);
}

static collet_status arguments_bind(collet_context *cx, collet_sequence *s,
                                    collet_array *const *arguments)
{
    collet_status status = COLLET_OK;
    int changed = 0;
    for (uint32_t k = 0; status == COLLET_OK && k < s->argument_count; k++) {
        if (arguments[k])
            status = argument_check(cx, s, k, arguments[k]);
        changed |= status == COLLET_OK && is_changed(s, k, arguments[k]);
    }
    for (uint32_t k = 0; changed && status == COLLET_OK && k < s->argument_count; k++)
        if (is_changed(s, k, arguments[k]))
            status = overlap_check(cx, s, k, arguments);
    for (uint32_t k = 0; changed && status == COLLET_OK && k < s->argument_count; k++)
        if (is_changed(s, k, arguments[k])) {
            slot *l = &s->slots[s->arguments[k]];
            s->unaccepted |= l->view.offset != arguments[k]->offset;
            bind(l, arguments[k]);
        }
    return status;
}

/* ---- Memory ------------------------------------------------------------------------------ */

/* Whether the steps overwrite all bytes of the storage before they read any. */
static int is_whole(const slot *l)
{
    uint64_t shift = l->view.offset - l->recorded;
    if (!l->argument)
        shift = 0;
    return l->written + shift == 0 && l->written_end + shift == l->storage->bytes;
}

/* After the memory or the view of a slot has changed. */
static void operands_update(collet_sequence *s)
{
    s->recorded_in = NULL;
    for (uint32_t i = 0; i < s->step_count; i++) {
        step *t = s->steps[i];
        for (uint32_t k = 0; k < t->count; k++) {
            const step_operand *from = &t->from[k];
            if (from->slot == SEQUENCE_NONE)
                continue;
            const slot *l = &s->slots[from->slot];
            t->operands[k].buffer = l->memory;
            t->operands[k].byte_offset =
                l->argument ? from->offset + l->view.offset - l->recorded : from->offset;
        }
        if (t->call.workspace_bytes)
            t->call.workspace = s->slots[s->scratch].memory;
    }
}

static collet_status slot_use(collet_context *cx, slot *l, queue *q, int32_t access, origins *from,
                              int *changed)
{
    void *memory = NULL;
    int *commit = access == COLLET_WRITE ? &l->commit_write : &l->commit_read;
    collet_status status = storage_use(l->storage, q, access, access == COLLET_WRITE && is_whole(l),
                                       &memory, commit, from, &cx->moved, context_error(cx));
    *changed |= status == COLLET_OK && memory != l->memory;
    if (status == COLLET_OK)
        l->memory = memory;
    return status;
}

/* Inputs first, as for one call. */
static collet_status slots_use(collet_context *cx, collet_sequence *s, queue *q, origins *from)
{
    collet_status status = COLLET_OK;
    int changed = 0, unsettled = 0;
    for (uint32_t i = 0; i < s->slot_count; i++) {
        slot *l = &s->slots[i];
        l->commit_read = l->commit_write = 0;
        l->settled = storage_settled(l->storage, q);
        if (!l->settled) {
            unsettled = 1;
        } else if (l->memory != l->storage->host.memory) {
            l->memory = l->storage->host.memory;
            changed = 1;
        }
    }
    for (uint32_t i = 0; unsettled && status == COLLET_OK && i < s->slot_count; i++)
        if (s->slots[i].reads && !s->slots[i].settled)
            status = slot_use(cx, &s->slots[i], q, COLLET_READ, from, &changed);
    for (uint32_t i = 0; unsettled && status == COLLET_OK && i < s->slot_count; i++)
        if (s->slots[i].writes && !s->slots[i].settled)
            status = slot_use(cx, &s->slots[i], q, COLLET_WRITE, from, &changed);
    if (changed)
        operands_update(s);
    return status;
}

static void slots_commit(collet_sequence *s, queue *q, uint64_t ticket, const origins *from)
{
    for (uint32_t i = 0; i < s->slot_count; i++)
        if (s->slots[i].commit_read)
            storage_commit(s->slots[i].storage, q, ticket, COLLET_READ, from);
    for (uint32_t i = 0; i < s->slot_count; i++)
        if (s->slots[i].commit_write)
            storage_commit(s->slots[i].storage, q, ticket, COLLET_WRITE, from);
}

/* ---- Kernels ----------------------------------------------------------------------------- */

/* `number` SEQUENCE_NONE: of the steps as one command. `wrote`: earlier steps were run. */
static collet_status step_failed(collet_context *cx, const collet_sequence *s, uint32_t number,
                                 collet_status status, int wrote)
{
    device *d = s->device;
    const char *why = *s->err.text ? s->err.text : collet_status_text(status);
    device_note_status(d, status);
    if (status != COLLET_DEVICE_LOST && (status != COLLET_REFUSED || wrote))
        status = COLLET_FAILED;
    if (number == SEQUENCE_NONE)
        return context_fail(cx, status, "collet_sequence_run: %u calls on %s: %s", s->step_count,
                            d->name, why);
    return context_fail(cx, status, "collet_sequence_run: call %u of %u, %s on %s: %s", number + 1,
                        s->step_count, s->steps[number]->op->name, d->name, why);
}

/* A row may accept a call or not, or want other scratch, by the offsets of its operands. */
static collet_status steps_accept(collet_context *cx, collet_sequence *s)
{
    collet_status status = COLLET_OK;
    for (uint32_t i = 0; i < s->slot_count; i++)
        s->slots[i].memory = NULL;
    operands_update(s);
    for (uint32_t i = 0; status == COLLET_OK && i < s->step_count; i++) {
        step *t = s->steps[i];
        if (!t->row->accepts)
            continue;
        s->err.text[0] = '\0';
        t->call.workspace = NULL;
        t->call.workspace_bytes = 0;
        device_enter(s->device);
        status = t->row->accepts(s->device->handle, &t->call, &t->call.workspace_bytes);
        device_leave(s->device, COLLET_OK);
        if (status != COLLET_OK)
            return step_failed(cx, s, i, status, 0);
    }
    status = sequence_scratch(s, context_error(cx));
    s->unaccepted = status != COLLET_OK;
    return status;
}

/* *done is how many steps were run without a failure. */
static collet_status steps_run(const collet_sequence *s, collet_queue *q, uint32_t *done)
{
    collet_device *d = s->device->handle;
    collet_status status = COLLET_OK;
    uint32_t i = 0;
    for (; i < s->step_count; i++) {
        const step *t = s->steps[i];
        status = t->run(d, q, &t->call);
        if (status != COLLET_OK)
            break;
    }
    *done = i;
    return status;
}

static void recording_destroy(device *d, void *recording)
{
    d->extensions.record->release(d->handle, recording);
}

/* Records the steps on the device, in place of an earlier recording of them. */
static collet_status steps_record(collet_sequence *s, const queue *q)
{
    const collet_record_extension *x = s->device->extensions.record;
    collet_device *d = s->device->handle;
    uint32_t done;
    collet_error dropped;
    collet_status status = COLLET_OK;
    if (!s->replays)
        status = block_object(s->device, recording_destroy, &s->replays, &s->err);
    if (status == COLLET_OK)
        status = x->begin(d, q->handle, &s->err);
    if (status != COLLET_OK)
        return status;
    status = steps_run(s, q->handle, &done);
    if (status == COLLET_OK)
        status = x->end(d, q->handle, &s->recording, &s->err);
    else
        x->end(d, q->handle, NULL, &dropped);
    s->recorded_in = status == COLLET_OK ? q : NULL;
    s->recorded_base = q->base;
    return status;
}

/* As one command if the device can, else REFUSED: nothing was enqueued. */
static collet_status steps_replay(collet_sequence *s, const queue *q)
{
    const collet_record_extension *x = s->device->extensions.record;
    collet_status status = COLLET_OK;
    if (!x || s->unrecordable || !s->run_before)
        return COLLET_REFUSED;
    if (s->recorded_in != q || s->recorded_base != q->base)
        status = steps_record(s, q);
    if (status != COLLET_OK && status != COLLET_DEVICE_LOST) {
        s->unrecordable = 1;
        log_message(&s->runtime->log, COLLET_LOG_DEBUG,
                    "a sequence of %u calls cannot be recorded on %s: %s", s->step_count,
                    s->device->name, s->err.text);
        return COLLET_REFUSED;
    }
    return status == COLLET_OK ? x->replay(s->device->handle, q->handle, s->recording, &s->err)
                               : status;
}

static collet_status steps_enqueue(collet_sequence *s, queue *q, uint32_t *done)
{
    collet_status status = steps_replay(s, q);
    *done = SEQUENCE_NONE;
    if (status != COLLET_REFUSED)
        return status;
    s->recorded_in = NULL;
    s->err.text[0] = '\0';
    status = steps_run(s, q->handle, done);
    s->run_before = status == COLLET_OK;
    return status;
}

static collet_status run_on(collet_context *cx, collet_sequence *s, lane *l)
{
    device *d = s->device;
    queue *q = l->queue;
    origins from = {.count = 0};
    uint64_t ticket = 0;
    collet_status status = slots_use(cx, s, q, &from);
    if (status != COLLET_OK)
        return status;
    s->err.text[0] = '\0';
    uint32_t done;
    if (d->synchronous) {
        device_enter(d);
        status = device_leave(d, steps_run(s, q->handle, &done));
    } else {
        status = queue_lock(q, context_error(cx));
        if (status != COLLET_OK)
            return status;
        device_enter(d);
        status = device_leave(d, steps_enqueue(s, q, &done));
        ticket = l->enqueued = queue_unlock(q);
        if (s->replays)
            block_used(s->replays, (use){q, ticket}, COLLET_READ, NULL);
        origins_enqueued(&from, q);
        blocks_collect(d, 0);
    }
    if (status != COLLET_OK)
        status = step_failed(cx, s, done, status, done != 0);
    if (status != COLLET_REFUSED)
        slots_commit(s, q, ticket, &from);
    if (status == COLLET_OK && from.count)
        origins_add_all(&l->origins, &from);
    return status;
}

collet_status collet_sequence_run(collet_context *cx, collet_sequence *s,
                                  collet_array *const *arguments)
{
    COLLET_FLOATING_SCOPE;
    lane *l;
    collet_status status = context_ready(cx, "collet_sequence_run");
    if (status != COLLET_OK)
        return status;
    if (!s || s->runtime != cx->runtime)
        return context_fail(cx, COLLET_INVALID, "collet_sequence_run: the sequence %s",
                            s ? "belongs to another runtime" : "is NULL");
    if (arguments)
        status = arguments_bind(cx, s, arguments);
    if (status != COLLET_OK || !s->step_count)
        return status;
    if (atomic_load(&s->device->state) == DEVICE_LOST)
        return context_fail(cx, COLLET_DEVICE_LOST,
                            "collet_sequence_run: %s, for which the sequence was recorded, is "
                            "lost; record it again for another device",
                            s->device->name);
    status = context_lane(cx, s->device, &l, context_error(cx));
    if (status == COLLET_OK && s->unaccepted)
        status = steps_accept(cx, s);
    if (status == COLLET_OK)
        status = run_on(cx, s, l);
    if (status == COLLET_OK) {
        cx->counters.calls += s->step_count;
        cx->last_backend = device_called(s->device);
    }
    return status;
}
