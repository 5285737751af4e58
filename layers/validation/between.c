/* SPDX-License-Identifier: Apache-2.0 */
/* Checks calls of collet.copy/1. The other device also has a handle of this layer, because the
 * layer is over all backends.
 * Tests: tests/layers/test_validation.c */
#include <collet/extensions.h>

#include "validation.h"

typedef struct copy {
    call call;
    device *from;
    queue *from_queue;
    int locked; /* 1: this call has marked that it enqueues in from_queue */
    buffer *target, *source;
} copy;

static int find_from(copy *k, const collet_plugin *of, collet_device *from, collet_queue *in)
{
    call *c = &k->call;
    const char *fault = NULL;
    k->from = (device *)object_get(from, OBJECT_DEVICE);
    k->from_queue = (queue *)object_get(in, OBJECT_QUEUE);
    if (!k->from)
        fault = object_unknown(from, OBJECT_DEVICE);
    else if (&k->from->of->table != of)
        fault = "not a device of the plugin `of`";
    if (fault)
        call_wrong(c, LIBCORE, "`from` is %s", fault);
    else if (!k->from_queue || k->from_queue->device != k->from)
        call_wrong(c, LIBCORE, "`from_queue` is %s",
                   k->from_queue ? "not a queue of `from`" : object_unknown(in, OBJECT_QUEUE));
    else if (k->from_queue == c->queue ||
             !(k->locked = !atomic_exchange(&k->from_queue->enqueuing, 1)))
        call_wrong(c, LIBCORE, "another call enqueues in `from_queue`");
    return c->wrong.status == COLLET_OK;
}

static void release(copy *k)
{
    call_release_buffer(k->target, 1);
    call_release_buffer(k->source, 0);
    if (k->locked)
        atomic_store(&k->from_queue->enqueuing, 0);
    object_put((object *)k->from_queue);
    object_put((object *)k->from);
}

static collet_status copy_between(collet_device *named, collet_queue *in, collet_buffer *target,
                                  uint64_t target_offset, const collet_plugin *of,
                                  collet_device *from, collet_queue *from_in, collet_buffer *source,
                                  uint64_t source_offset, uint64_t bytes, collet_error *err)
{
    copy k = {.from = NULL};
    call *c = &k.call;
    collet_status status = COLLET_FAILED;
    if (!call_begin(c, COLLET_EXTENSION_COPY, named, err) || !call_own_queue(c, in, ENQUEUES))
        return call_end(c, status);
    if (find_from(&k, of, from, from_in) &&
        (k.target = call_buffer(c, c->device, target, "the target", 1)) &&
        (k.source = call_buffer(c, k.from, source, "the source", 0)) &&
        call_range(c, k.target, "the target", target_offset, bytes) &&
        call_range(c, k.source, "the source", source_offset, bytes)) {
        const collet_copy_extension *below = c->device->extensions[EXTENSION_COPY];
        call_enter(c);
        status =
            below->between(c->device->below, call_queue_below(c), k.target->below, target_offset,
                           k.from->of->below, k.from->below, k.from_queue->below, k.source->below,
                           source_offset, bytes, c->below_err);
        status = call_status(c, status, CONTRACT_ACCEPT);
        if (status != COLLET_REFUSED) {
            queue_used(c->queue, k.target);
            queue_used(k.from_queue, k.source);
        }
    }
    release(&k);
    return call_end(c, status);
}

const collet_copy_extension validation_copy = {sizeof validation_copy, 0, copy_between};
