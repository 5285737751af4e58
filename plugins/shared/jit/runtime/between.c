/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between two devices of one backend.
 * Tests: tests/opencl/test_opencl_device_copies.c, tests/cuda/test_cuda_device_copies.c */
#include "between.h"

#include "queue.h"

static collet_status refuse(collet_device *d, const char *why, collet_error *err)
{
    return jit_host(d)->fail(err, COLLET_REFUSED, "no copy between these devices: %s", why);
}

/* Enqueues in `q` the read of the exported bytes; the export was enqueued in `from_queue`. */
static collet_status fetch(collet_queue *q, collet_buffer *target, uint64_t offset,
                           collet_queue *from_queue, const jit_export *export, uint64_t bytes,
                           collet_error *err)
{
    uint64_t ticket = 0;
    collet_status status = jit_slots_of(q)->order(q, from_queue, export->ticket, err);
    if (status == COLLET_OK)
        status = jit_driver_of(jit_queue_of(q)->device)
                     ->copy->export_read(q, target, offset, jit_queue_of(from_queue)->device,
                                         export, bytes, &ticket, err);
    if (status != COLLET_OK)
        return status;
    /* The export ends after the read. If the queues cannot be ordered, the host waits for the read. */
    collet_error why = {COLLET_OK, ""};
    if (jit_slots_of(q)->order(from_queue, q, ticket, &why) != COLLET_OK)
        jit_queue_await(q, ticket);
    return COLLET_OK;
}

static collet_status copy(collet_device *d, collet_queue *q, collet_buffer *target,
                          uint64_t target_offset, const collet_plugin *of, collet_device *from,
                          collet_queue *from_queue, collet_buffer *source, uint64_t source_offset,
                          uint64_t bytes, collet_error *err)
{
    const jit_driver *driver = jit_driver_of(d);
    jit_export export = {.buffer = source, .offset = source_offset};
    if (of != &driver->plugin)
        return refuse(d, "they belong to different backends", err);
    collet_status status = jit_check(d, err);
    if (status != COLLET_OK)
        return status;
    if (!driver->copy->reaches(d, from))
        return refuse(d, "the target cannot read the source's memory", err);
    if (jit_check(from, err) != COLLET_OK ||
        driver->copy->export_begin(from_queue, bytes, &export, err) != COLLET_OK)
        return refuse(d, "the source device was lost", err);
    status = fetch(q, target, target_offset, from_queue, &export, bytes, err);
    driver->copy->export_end(from_queue, &export);
    return status;
}

const collet_copy_extension jit_copy_extension = {sizeof jit_copy_extension, 0, copy};
