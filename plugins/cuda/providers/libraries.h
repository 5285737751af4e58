/* SPDX-License-Identifier: Apache-2.0 */
/* libraries.h - libraries of the toolkit (library.h): which are there, and calls of them in queues.
 */
#ifndef COLLET_CUDA_LIBRARIES_H
#define COLLET_CUDA_LIBRARIES_H

#include <collet/plugin.h>

#include "shared/host/util/text.h"

/*
 * Adds `"libraries": {...}, ` to the capabilities: of each library its version and file, or what is
 * missing and what happens instead. They are opened in a child of the probe, for that takes a
 * second or two; outside of a probe nothing is opened and only the settings are told.
 */
void cuda_libraries_describe(const collet_host *host, int driver, text *json);

/* What a library answered to a call. */
enum { CUDA_LIBRARY_DONE, CUDA_LIBRARY_NO, CUDA_LIBRARY_BROKEN };

/* Calls of a library on some buffers of a queue. */
typedef struct cuda_library_use {
    collet_device *device;
    collet_queue *queue;
    const char *label; /* in messages; a constant */
    collet_buffer *buffers[8];
    uint32_t count;
    collet_error *err;
} cuda_library_use;

/*
 * Runs `calls` under the queue's lock, in the device's context and after the buffers' last owners;
 * its return value is one of the answers above, and *code the library's own. COLLET_OK: enqueued.
 * REFUSED: nothing was (CUDA_LIBRARY_NO). FAILED and DEVICE_LOST as a launch's.
 */
collet_status cuda_library_call(const cuda_library_use *use, int (*calls)(void *context, int *code),
                                void *context);

#endif
