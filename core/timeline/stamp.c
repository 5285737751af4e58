/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_timing.c */
#include "stamp.h"

static void destroy(device *d, void *stamp)
{
    d->extensions.timing->release(d->handle, stamp);
}

collet_status stamp_take(queue *q, block **out, uint64_t *ticket, collet_error *err)
{
    device *d = q->device;
    collet_stamp *made = NULL;
    *out = NULL;
    collet_status status = block_object(d, destroy, out, err);
    if (status == COLLET_OK && (status = queue_lock(q, err)) == COLLET_OK) {
        device_enter(d);
        status = device_leave(d, d->extensions.timing->stamp(d->handle, q->handle, &made, err));
        *ticket = queue_unlock(q);
    }
    if (status != COLLET_OK) {
        block_free(*out);
        *out = NULL;
        return status;
    }
    (*out)->memory = made;
    block_used(*out, (use){q, *ticket}, COLLET_READ, NULL);
    return COLLET_OK;
}

collet_status stamp_elapsed(const block *first, const block *last, int64_t *nanoseconds,
                            collet_error *err)
{
    device *d = first->device;
    device_enter(d);
    return device_leave(
        d, d->extensions.timing->elapsed(d->handle, first->memory, last->memory, nanoseconds, err));
}
