/* SPDX-License-Identifier: Apache-2.0 */
/* library_call.h - calls of the toolkit's libraries as commands of a queue. */
#pragma once

#include <collet/plugin.h>

/* Outcome of a call: enqueued, refused with nothing enqueued, failed. */
enum { CUDA_LIBRARY_DONE, CUDA_LIBRARY_NO, CUDA_LIBRARY_BROKEN };

/* Calls of a library in a queue. */
typedef struct cuda_library_use {
    collet_device *device;
    collet_queue *queue;
    const char *label; /* for messages; static */
    collet_error *err;
} cuda_library_use;

/* Runs `calls` under the queue's lock and in the device's context. `calls` returns one of the outcomes above
 * and sets *code to the library's status. Returns OK; REFUSED for CUDA_LIBRARY_NO; FAILED or DEVICE_LOST
 * under the same conditions as a launch. */
collet_status cuda_library_call(const cuda_library_use *use, int (*calls)(void *context, int *code),
                                void *context);
