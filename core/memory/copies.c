/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_storage.c, tests/core/test_failures.c */
#include "copies.h"

#include <inttypes.h>

#include "timeline/order.h"
#include "timeline/origins.h"
#include "timeline/span.h"
#include "util/host_memory.h"

static const origins no_origins;

/* ---- Validity ---------------------------------------------------------------------------- */

/* Waits for the work from which the bytes derive or, with wait 0, reports only its known failures. Origins come
 * first: if an origin hangs, its own device is reported as lost; the writer's device only waits for it. */
static collet_status copy_outcome(const block *c, int wait, collet_error *err)
{
    collet_status status = origins_outcome(&c->origins, wait, err);
    return status == COLLET_OK ? use_outcome(c->writer, wait, err) : status;
}

void copies_drop_lost(storage *s)
{
    int had = !copies_never_written(s);
    for (block *c = s->host.next; c; c = c->next) {
        uint64_t bit = copies_bit(c->device->space);
        if (atomic_load(&c->device->state) == DEVICE_LOST)
            s->valid &= ~bit;
        else if (s->valid & bit && s->valid != bit && copy_outcome(c, 0, NULL) != COLLET_OK)
            s->valid &= ~bit;
    }
    if (had && !s->valid)
        s->lost = 1;
}

/* ---- Host memory ------------------------------------------------------------------------- */

collet_status copies_take_host(storage *s, collet_error *err)
{
    if (s->host.memory)
        return COLLET_OK;
    s->host.memory = s->own ? s->own : host_memory_create(s->bytes);
    if (!s->host.memory)
        return collet_fail(err, COLLET_NO_MEMORY,
                           "out of host memory for an array of %" PRIu64 " bytes", s->bytes);
    memory_count_add(&s->runtime->host_memory, s->bytes);
    return COLLET_OK;
}

/* ---- Order ------------------------------------------------------------------------------- */

/* Orders the next work of `q` (NULL: the host) after `u`; `needed` as in queue_after. */
static collet_status after_use(const use *u, queue *q, int needed, collet_error *err)
{
    if (!u->queue)
        return COLLET_OK;
    return queue_after(q, u->queue, u->ticket, needed, err);
}

/* A write need not know whether earlier reads succeeded. */
collet_status copies_after_uses(block *c, queue *q, int32_t access, int needed, collet_error *err)
{
    collet_status status = after_use(&c->writer, q, needed, err);
    if (status == COLLET_OK && needed)
        status = origins_outcome(&c->origins, !q || q->device->synchronous, err);
    if (!(access & COLLET_WRITE))
        return status;
    for (uint32_t i = 0; status == COLLET_OK && i < c->use_count; i++)
        status = after_use(&c->uses[i], q, 0, err);
    return status;
}

use copies_use(queue *q, uint64_t ticket)
{
    return (use){q->device->synchronous ? NULL : q, ticket};
}

/* ---- Moving bytes ------------------------------------------------------------------------ */

block *copies_find(storage *s, const device *d)
{
    if (d->space == 0)
        return &s->host;
    block *c = s->host.next;
    while (c && c->device != d)
        c = c->next;
    return c;
}

collet_status copies_create(storage *s, queue *q, block **out, collet_error *err)
{
    collet_status status = block_reuse(q, s->bytes ? s->bytes : 1, out, err);
    if (status != COLLET_OK)
        return status;
    (*out)->next = s->host.next;
    s->host.next = *out;
    return COLLET_OK;
}

block *copies_any_on_device(storage *s)
{
    for (block *c = s->host.next; c; c = c->next)
        if (copies_valid_in(s, c->device->space))
            return c;
    return NULL;
}

/* Copies from a device with valid bytes, on a queue that is taken for this copy. */
static collet_status fetch_to_host(storage *s, transfer_counters *moved, collet_error *err)
{
    block *from = copies_any_on_device(s);
    queue *q = NULL;
    collet_status status = copies_take_host(s, err);
    if (status == COLLET_OK)
        status = copies_after_uses(&s->host, NULL, COLLET_WRITE, 0, err);
    if (status == COLLET_OK)
        status = queue_take(from->device, &q, err);
    if (status != COLLET_OK)
        return status;
    status = copy_outcome(from, 1, err);
    if (status == COLLET_OK && s->bytes && (status = queue_lock(q, err)) == COLLET_OK) {
        device *d = from->device;
        int64_t begin = s->runtime->trace ? trace_now() : 0;
        device_enter(d);
        status = device_leave(d, d->table->buffer_read(d->handle, q->handle, from->memory, 0,
                                                       s->host.memory, s->bytes, err));
        if (status == COLLET_OK)
            pthread_mutex_unlock(&q->lock);
        else
            block_used(from, copies_use(q, queue_unlock(q)), COLLET_READ, NULL);
        if (begin && status == COLLET_OK)
            span_transfer_waited(q, begin, "copy device to host", s->bytes);
    }
    queue_return(q);
    if (status != COLLET_OK)
        return status;
    moved->bytes_to_host += s->bytes;
    copies_set_valid(s, 0, 0);
    return COLLET_OK;
}

collet_status copies_make_valid_on_host(storage *s, transfer_counters *moved, collet_error *err)
{
    if (copies_valid_in(s, 0))
        return COLLET_OK;
    if (copies_never_written(s))
        return copies_take_host(s, err);
    for (;;) {
        uint64_t before = s->valid;
        collet_status status = fetch_to_host(s, moved, err);
        if (status != COLLET_FAILED && status != COLLET_DEVICE_LOST)
            return status;
        /* Another device may have a valid copy. */
        copies_drop_lost(s);
        if (!s->valid || s->valid == before)
            return status;
    }
}

/* Copies from a device with valid bytes. REFUSED if the two devices cannot copy directly. */
static collet_status send_between(storage *s, block *to, queue *q, transfer_counters *moved,
                                  collet_error *err)
{
    block *from = copies_any_on_device(s);
    origins derived = from->origins;
    use read = {NULL, 0};
    uint64_t ticket = 0;
    origins_add(&derived, from->writer);
    collet_status status = copies_after_uses(to, q, COLLET_WRITE, 0, err);
    if (status != COLLET_OK)
        return status;
    span traced;
    span_begin(&traced, q);
    status = queue_copy_between(q, to->memory, from->device, from->memory, s->bytes, &from->writer,
                                &read, &ticket, err);
    span_transfer(&traced, q, "copy device to device", s->bytes, status);
    if (status == COLLET_REFUSED || !read.queue)
        return status;
    origins_enqueued(&derived, q);
    block_used(from, read, COLLET_READ, NULL);
    block_used(to, copies_use(q, ticket), COLLET_WRITE, &derived);
    if (status != COLLET_OK)
        return status;
    copies_set_valid(s, q->device->space, 0);
    moved->bytes_direct += s->bytes;
    return COLLET_OK;
}

static collet_status send_from_host(storage *s, block *to, queue *q, transfer_counters *moved,
                                    collet_error *err)
{
    collet_status status = copies_make_valid_on_host(s, moved, err);
    if (status == COLLET_OK)
        status = copy_outcome(&s->host, 1, err);
    if (status == COLLET_OK)
        status = copies_after_uses(to, q, COLLET_WRITE, 0, err);
    if (status != COLLET_OK || !s->bytes)
        return status;
    span traced;
    span_begin(&traced, q);
    status = queue_lock(q, err);
    if (status != COLLET_OK) {
        span_drop(&traced);
        return status;
    }
    device *d = q->device;
    device_enter(d);
    status = device_leave(d, d->table->buffer_write(d->handle, q->handle, to->memory, 0,
                                                    s->host.memory, s->bytes, err));
    use written = copies_use(q, queue_unlock(q));
    span_transfer(&traced, q, "copy host to device", s->bytes, status);
    if (status != COLLET_REFUSED)
        block_used(to, written, COLLET_WRITE, &no_origins);
    if (status != COLLET_OK)
        return status;
    copies_set_valid(s, q->device->space, 0);
    moved->bytes_to_device += s->bytes;
    return COLLET_OK;
}

collet_status copies_make_valid(storage *s, block *c, queue *q, int whole, transfer_counters *moved,
                                collet_error *err)
{
    int32_t space = q->device->space;
    if (space == 0) {
        return whole ? copies_take_host(s, err) : copies_make_valid_on_host(s, moved, err);
    }
    if (copies_valid_in(s, space) || whole || copies_never_written(s))
        return COLLET_OK;
    collet_status status =
        copies_valid_in(s, 0) || !s->bytes ? COLLET_REFUSED : send_between(s, c, q, moved, err);
    return status == COLLET_REFUSED ? send_from_host(s, c, q, moved, err) : status;
}
