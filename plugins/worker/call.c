/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of kernels as messages.
 * Tests: tests/worker/test_worker.c */
#include "device.h"

#include <string.h>

#define MAY(name) (1u << COLLET_##name)

static uint64_t wire_buffer(const void *buffer)
{
    return buffer ? ((const collet_buffer *)buffer)->id + 1 : 0;
}

/* The link of the call's row. An absent operand matches every dtype of a signature. */
static const row_link *link_of(const collet_device *d, const collet_kernel_call *call)
{
    const row_link *found = device_link(d, call->op, call->sig);
    uint64_t mask = 0;
    if (found)
        return found;
    for (uint32_t i = 0; i < call->n_out + call->n_in; i++)
        if (call->sig & COLLET_SIG_AT(i, (1u << COLLET_SIG_BITS) - 1))
            mask |= COLLET_SIG_AT(i, (1u << COLLET_SIG_BITS) - 1);
    for (uint32_t i = 0; i < d->plugin->kernel_count && !found; i++)
        if (d->links[i].op == call->op && d->links[i].served &&
            !((d->links[i].sig ^ call->sig) & mask))
            found = &d->links[i];
    return found;
}

/* Returns the message's size. */
static size_t write_call(wire_call *w, wire_verb verb, const row_link *link,
                         const collet_kernel_call *call)
{
    uint32_t count = call->n_out + call->n_in;
    memset(w, 0, offsetof(wire_call, operands));
    w->head.verb = verb;
    w->sig = call->sig;
    w->row = link->served - 1;
    w->n_out = call->n_out;
    w->n_in = call->n_in;
    w->params_size = call->params_size < WIRE_PARAMS ? call->params_size : WIRE_PARAMS;
    w->workspace = wire_buffer(call->workspace);
    w->workspace_bytes = call->workspace_bytes;
    if (call->params)
        memcpy(w->params, call->params, w->params_size);
    for (uint32_t i = 0; i < count; i++) {
        const collet_operand *from =
            (const void *)((const char *)call->operands + (size_t)i * call->operand_size);
        wire_operand *to = &w->operands[i];
        *to = (wire_operand){.buffer = wire_buffer(from->buffer),
                             .byte_offset = from->byte_offset,
                             .dtype = (int32_t)from->dtype,
                             .ndim = from->ndim};
        if (from->ndim > 0) {
            memcpy(to->shape, from->shape, (size_t)from->ndim * sizeof *to->shape);
            memcpy(to->strides, from->strides, (size_t)from->ndim * sizeof *to->strides);
        }
    }
    return offsetof(wire_call, operands) + count * sizeof *w->operands;
}

collet_status worker_run(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    wire_call w;
    size_t bytes = write_call(&w, WIRE_RUN, link_of(d, call), call);
    w.head.threads = d->limit ? d->limit() : 0;
    return worker_command(q, &w, bytes, call->err);
}

/* The entry for a call in the table of accepted calls. Equal calls have equal bytes, because a call of `accepts` has no
 * buffers and unused bytes of a message are 0. */
static accepted_call *slot_of(collet_device *d, const wire_call *w, size_t bytes)
{
    uint64_t hash = 0, word;
    for (size_t i = 0; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, (const char *)w + i, sizeof word);
        hash = ((hash << 27 | hash >> 37) ^ word) * 0x9e3779b97f4a7c15u;
    }
    return &d->accepted[(hash >> 32) % WORKER_ACCEPTED];
}

static bool was_accepted(collet_device *d, const accepted_call *a, const wire_call *w, size_t bytes,
                         uint64_t *workspace_bytes)
{
    pthread_mutex_lock(&d->lock);
    bool same = a->bytes == bytes && !memcmp(&a->call, w, bytes);
    if (same)
        *workspace_bytes = a->workspace;
    pthread_mutex_unlock(&d->lock);
    return same;
}

static void remember(collet_device *d, accepted_call *a, const wire_call *w, size_t bytes,
                     uint64_t workspace_bytes)
{
    pthread_mutex_lock(&d->lock);
    a->bytes = bytes;
    a->workspace = workspace_bytes;
    memcpy(&a->call, w, bytes);
    pthread_mutex_unlock(&d->lock);
}

collet_status worker_accepts(collet_device *d, const collet_kernel_call *call,
                             uint64_t *workspace_bytes)
{
    const row_link *link = link_of(d, call);
    wire_call w;
    wire_reply reply;
    if (atomic_load(&d->lost))
        return device_is_lost(d, call->err);
    if (!link->asks)
        return COLLET_OK;
    size_t bytes = write_call(&w, WIRE_ACCEPTS, link, call);
    accepted_call *slot = slot_of(d, &w, bytes);
    if (was_accepted(d, slot, &w, bytes, workspace_bytes))
        return COLLET_OK;
    collet_status status =
        device_request(d, &w, bytes, NULL, 0, MAY(REFUSED) | MAY(DEVICE_LOST), &reply, call->err);
    if (status != COLLET_OK)
        return status;
    *workspace_bytes = reply.bytes;
    remember(d, slot, &w, bytes, reply.bytes);
    return COLLET_OK;
}
