/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of kernels as messages. */
#include "device.h"

#include <string.h>

#define MAY(name) (1u << COLLET_##name)

static uint64_t wire_buffer(const void *buffer)
{
    return buffer ? ((const collet_buffer *)buffer)->id + 1 : 0;
}

/* The link of the call's row; operands that are absent fit any signature. */
static const row_link *link_of(const collet_device *d, const collet_kernel_call *call)
{
    const row_link *found = device_link(d, call->op, call->sig);
    uint64_t mask = 0;
    if (found)
        return found;
    for (uint32_t i = 0; i < call->n_out + call->n_in; i++)
        if (call->sig & COLLET_SIG_AT(i, (1u << COLLET_SIG_BITS) - 1))
            mask |= COLLET_SIG_AT(i, (1u << COLLET_SIG_BITS) - 1);
    for (uint32_t i = 0; i < worker_row_count && !found; i++)
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
    return worker_command(q, &w, bytes, call->err);
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
    collet_status status =
        device_request(d, &w, bytes, NULL, 0, MAY(REFUSED) | MAY(DEVICE_LOST), &reply, call->err);
    if (status == COLLET_OK)
        *workspace_bytes = reply.bytes;
    return status;
}
