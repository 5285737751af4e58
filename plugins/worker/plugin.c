/* SPDX-License-Identifier: Apache-2.0 */
/* The backend `worker`: runs another backend in a separate process. Its table has every kernel that
 * libcore knows; a device supports the kernels of the backend that it serves.
 * Tests: tests/worker/test_worker.c */
#include "device.h"

#include <string.h>

#include "shared/host/util/plugin_head.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#include "rows/worker.inc"

/* ---- The plugin -------------------------------------------------------------------------- */

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    static const char text[] =
        "{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 0,"
        " \"reason\": \"" WORKER_USAGE "\"}";
    (void)self;
    (void)host;
    (void)err;
    *needed = sizeof text;
    if (capacity >= *needed)
        memcpy(json, text, *needed);
    return COLLET_OK;
}

static const collet_plugin plugin = {
    PLUGIN_HEAD("worker", kernels),
    .capabilities = capabilities,
    .device_open = worker_open,
    .device_close = worker_close,
    .device_supports = worker_supports,
    .buffer_alloc = worker_buffer_alloc,
    .buffer_free = worker_buffer_free,
    .buffer_write = worker_buffer_write,
    .buffer_read = worker_buffer_read,
    .queue_create = worker_queue_create,
    .queue_destroy = worker_queue_destroy,
    .queue_mark = worker_queue_mark,
    .queue_wait = worker_queue_wait,
    .queue_after = worker_queue_after,
    .extension = worker_extension,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
