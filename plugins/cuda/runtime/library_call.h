/* SPDX-License-Identifier: Apache-2.0 */
/* library_call.h - calls of the toolkit's libraries as commands of a queue. */
#ifndef COLLET_CUDA_LIBRARY_CALL_H
#define COLLET_CUDA_LIBRARY_CALL_H

#include <collet/plugin.h>

/* What became of a call: enqueued, refused with nothing done, or failed. */
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
