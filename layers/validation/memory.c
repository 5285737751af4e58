/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/layers/test_validation.c */
#include "validation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "poison.h"

static int own_memory(call *c)
{
    if (c->device->properties.memory == COLLET_MEMORY_OWN)
        return 1;
    call_wrong(c, LIBCORE, "the device works on host memory");
    return 0;
}

/* ---- Life -------------------------------------------------------------------------------- */

static buffer *buffer_wrap(device *d, collet_buffer *below, uint64_t bytes, int imported)
{
    buffer *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    pthread_mutex_init(&b->lock, NULL);
    b->device = d;
    b->below = below;
    b->bytes = bytes;
    b->imported = imported;
    b->handle = object_add(&b->object, OBJECT_BUFFER);
    atomic_fetch_add(&d->buffers, 1);
    atomic_fetch_add(&d->bytes, imported ? 0 : bytes);
    return b;
}

collet_status buffer_hand_out(call *c, collet_status status, collet_buffer *below, uint64_t bytes,
                              int imported, collet_buffer **out)
{
    device *d = c->device;
    if (status != COLLET_OK)
        return status;
    if (!below) {
        call_wrong(c, PLUGIN, "it returned OK and no buffer");
        return COLLET_FAILED;
    }
    buffer *b = c->wrong.status == COLLET_OK ? buffer_wrap(d, below, bytes, imported) : NULL;
    if (!b) {
        d->of->below->buffer_free(d->below, below);
        if (c->wrong.status == COLLET_OK)
            call_wrong(c, LIBCORE, "the layer is out of memory");
        return COLLET_FAILED;
    }
    *out = b->handle;
    return COLLET_OK;
}

collet_status validation_buffer_alloc(collet_device *handle, collet_buffer **out, uint64_t bytes,
                                      collet_error *err)
{
    call c;
    collet_buffer *below = NULL;
    collet_status status = COLLET_FAILED;
    if (!call_begin(&c, "buffer_alloc", handle, err) || !own_memory(&c))
        return call_end(&c, status);
    if (!bytes || !out) {
        call_wrong(&c, LIBCORE, out ? "bytes is 0" : "`buffer` is NULL");
        return call_end(&c, status);
    }
    call_enter(&c);
    status = c.device->of->below->buffer_alloc(c.device->below, &below, bytes, c.below_err);
    status = call_status(&c, status, CONTRACT_ACCEPT);
    return call_end(&c, buffer_hand_out(&c, status, below, bytes, 0, out));
}

void validation_buffer_free(collet_device *handle, collet_buffer *named)
{
    call c;
    uint64_t where = 0;
    if (!named)
        return;
    if (!call_begin(&c, "buffer_free", handle, NULL) || !own_memory(&c)) {
        call_end(&c, COLLET_OK);
        return;
    }
    device *d = c.device;
    buffer *b = call_buffer(&c, d, named, "the buffer", 0);
    if (b && !atomic_load(&d->lost) && buffer_in_use(b, &where))
        call_wrong(&c, LIBCORE,
                   "work in queue %" PRIu64
                   " may still use the buffer, because no wait has reached it; it is not freed",
                   where >> 2);
    else if (b && !object_remove(&b->object))
        call_wrong(&c, LIBCORE, "another call uses the buffer; it is not freed");
    else if (b) {
        call_enter(&c);
        d->of->below->buffer_free(d->below, b->below);
        call_left(&c);
        atomic_fetch_sub(&d->buffers, 1);
        atomic_fetch_sub(&d->bytes, b->imported ? 0 : b->bytes);
    }
    call_release_buffer(b, 0);
    call_end(&c, COLLET_OK);
}

/* ---- Transfers --------------------------------------------------------------------------- */

/* Does the checks that reads and writes have in common; returns the buffer, or NULL. */
static buffer *transfer_begin(call *c, collet_queue *in, collet_buffer *named, uint64_t offset,
                              const void *memory, uint64_t bytes, int writes)
{
    if (!own_memory(c) || !call_queue(c, in, ENQUEUES))
        return NULL;
    if (!memory) {
        call_wrong(c, LIBCORE, "the host's address is NULL");
        return NULL;
    }
    buffer *b = call_buffer(c, c->device, named, "the buffer", writes);
    if (b && call_range(c, b, "the buffer", offset, bytes))
        return b;
    call_release_buffer(b, writes);
    return NULL;
}

collet_status validation_buffer_write(collet_device *handle, collet_queue *in, collet_buffer *named,
                                      uint64_t offset, const void *source, uint64_t bytes,
                                      collet_error *err)
{
    call c;
    poison_block *block = NULL;
    collet_status status = COLLET_FAILED;
    if (!call_begin(&c, "buffer_write", handle, err))
        return call_end(&c, status);
    buffer *b = transfer_begin(&c, in, named, offset, source, bytes, 1);
    if (!b)
        return call_end(&c, status);
    /* The plugin gets a copy, so that the layer notices a read after the call. */
    void *copy = poison_take(bytes, c.slot, &block);
    if (copy)
        memcpy(copy, source, bytes);
    call_enter(&c);
    status = c.device->of->below->buffer_write(c.device->below, call_queue_below(&c), b->below,
                                               offset, copy ? copy : source, bytes, c.below_err);
    status = call_status(&c, status, CONTRACT_ENQUEUE);
    if (copy && memcmp(copy, source, bytes) != 0)
        call_wrong(&c, PLUGIN, "it wrote to the host's memory");
    poison_release(block);
    if (c.queue && status != COLLET_REFUSED)
        queue_used(c.queue, b);
    call_release_buffer(b, 1);
    return call_end(&c, status);
}

collet_status validation_buffer_read(collet_device *handle, collet_queue *in, collet_buffer *named,
                                     uint64_t offset, void *target, uint64_t bytes,
                                     collet_error *err)
{
    call c;
    poison_block *block = NULL;
    collet_status status = COLLET_FAILED;
    if (!call_begin(&c, "buffer_read", handle, err))
        return call_end(&c, status);
    buffer *b = transfer_begin(&c, in, named, offset, target, bytes, 0);
    if (!b)
        return call_end(&c, status);
    void *copy = poison_take(bytes, c.slot, &block);
    call_enter(&c);
    status = c.device->of->below->buffer_read(c.device->below, call_queue_below(&c), b->below,
                                              offset, copy ? copy : target, bytes, c.below_err);
    status = call_status(&c, status, CONTRACT_ENQUEUE);
    if (copy && status == COLLET_OK)
        memcpy(target, copy, bytes);
    if (status == COLLET_OK && c.queue && queue_failed(c.queue))
        call_wrong(&c, PLUGIN, "it returned OK, but a wait for the queue returned FAILED before");
    poison_release(block);
    if (c.queue && status != COLLET_REFUSED)
        queue_used(c.queue, b);
    /* The read took place in the queue's order, so all earlier work in the queue is done. */
    if (c.queue && status == COLLET_OK)
        queue_all_done(c.queue);
    call_release_buffer(b, 0);
    return call_end(&c, status);
}
