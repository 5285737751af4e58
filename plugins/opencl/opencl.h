/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the backend: its objects, and what its files offer each other. */
#ifndef COLLET_OPENCL_OPENCL_H
#define COLLET_OPENCL_OPENCL_H

#include <pthread.h>
#include <stdatomic.h>

#include "../device/device.h"
#include "../device/pool.h"
#include "driver.h"

/* Commands under way in a queue; the one before is waited for. A power of two. */
#define OPENCL_COMMANDS 1024
#define OPENCL_LABEL 96
/* Bytes of a write that are copied aside, so that the caller need not wait for the device. */
#define OPENCL_STAGED ((uint64_t)64 << 10)

typedef struct opencl_programs opencl_programs;
typedef struct opencl_kernels opencl_kernels;

struct collet_device {
    const collet_host *host;
    opencl_driver cl;
    cl_device_id id;
    cl_context context;
    device_traits traits;
    uint64_t total_memory;
    char name[128];
    char identity[1200]; /* what a program's binary depends on beside source and options */
    _Atomic int lost;
    device_pool pool;
    opencl_programs *programs;
    struct plan_cache *tables;
    pthread_mutex_t lock; /* of the queues' list */
    collet_queue *queues; /* all that were ever made */
};

/* A command that may be under way. */
typedef struct opencl_command {
    cl_event event;
    void *staged;     /* owned: the bytes of a write */
    const char *what; /* "kernel flat", "write": a constant */
    char label[OPENCL_LABEL];
} opencl_command;

struct collet_queue {
    collet_device *device;
    cl_command_queue handle;
    pthread_mutex_t lock;
    uint64_t submitted;    /* tickets given */
    uint64_t retired;      /* tickets known to have passed */
    collet_status failure; /* of the first command that failed since the last wait */
    char failed[OPENCL_LABEL + 64];
    opencl_kernels *kernels;
    int idle; /* destroyed; the next queue_create takes it */
    collet_queue *next;
    opencl_command commands[OPENCL_COMMANDS];
};

/* ---- devices.c ------------------------------------------------------------------------------- */

#define OPENCL_DEVICES 64

/* All devices of all platforms, in the order that the loader gives; at most OPENCL_DEVICES. Where
 * there are none, 0, and why in `reason`. */
uint32_t opencl_find_devices(const opencl_driver *cl, cl_device_id ids[OPENCL_DEVICES],
                             char reason[256]);
/* Fills traits, name, identity and total_memory from d->id. */
void opencl_describe(collet_device *d);

collet_status opencl_capabilities(const collet_host *host, char *json, uint64_t capacity,
                                  uint64_t *needed, collet_error *err);

/* ---- queue.c --------------------------------------------------------------------------------- */

/*
 * A command of the queue: under its lock, opencl_begin takes a place (waiting for the oldest
 * command when all are taken), the caller enqueues with &command->event, and opencl_commit gives
 * the ticket or, after an error, opencl_abandon leaves nothing behind.
 */
opencl_command *opencl_begin(collet_queue *q, const char *what, const char *label);
uint64_t opencl_commit(collet_queue *q);

/* The status for an error of a call: REFUSED when the device is short of something, DEVICE_LOST,
 * else FAILED; with the text "what: CL_NAME". */
collet_status opencl_fail(collet_device *d, cl_int error, const char *what, collet_error *err);

collet_status opencl_queue_create(collet_device *d, collet_queue **queue, collet_error *err);
void opencl_queue_destroy(collet_device *d, collet_queue *q);
collet_status opencl_queue_wait(collet_device *d, collet_queue *q, collet_error *err);
/* What is known to have failed since the last wait, which will still be told of it. */
collet_status opencl_queue_check(collet_queue *q, collet_error *err);
/* At device_close: queues, kernels. */
void opencl_queues_free(collet_device *d);

collet_status opencl_event_create(collet_device *d, collet_event **event, collet_error *err);
void opencl_event_destroy(collet_device *d, collet_event *e);
collet_status opencl_event_record(collet_device *d, collet_event *e, collet_queue *q,
                                  collet_error *err);
collet_status opencl_event_query(collet_device *d, collet_event *e, collet_error *err);
collet_status opencl_event_wait(collet_device *d, collet_event *e, collet_error *err);
collet_status opencl_queue_wait_event(collet_device *d, collet_queue *q, collet_event *e,
                                      collet_error *err);
collet_status opencl_event_elapsed(collet_device *d, collet_event *first, collet_event *last,
                                   double *milliseconds, collet_error *err);

/* ---- memory.c -------------------------------------------------------------------------------- */

collet_status opencl_buffer_alloc(collet_device *d, uint64_t bytes, collet_buffer **buffer,
                                  collet_error *err);
void opencl_buffer_free(collet_device *d, collet_buffer *b);
collet_status opencl_buffer_write(collet_device *d, collet_queue *q, collet_buffer *b,
                                  uint64_t offset, const void *source, uint64_t bytes,
                                  collet_error *err);
collet_status opencl_buffer_read(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, void *target, uint64_t bytes, collet_error *err);
collet_status opencl_buffer_copy(collet_device *d, collet_queue *q, collet_buffer *target,
                                 uint64_t target_offset, collet_buffer *source,
                                 uint64_t source_offset, uint64_t bytes, collet_error *err);
collet_status opencl_buffer_fill(collet_device *d, collet_queue *q, collet_buffer *b,
                                 uint64_t offset, uint64_t bytes, const void *pattern,
                                 uint32_t pattern_bytes, collet_error *err);
collet_status opencl_buffer_import(collet_device *d, void *foreign, uint64_t bytes,
                                   collet_buffer **buffer, collet_error *err);
collet_status opencl_memory_stats(collet_device *d, collet_memory_stats *stats, collet_error *err);

/* ---- program.c ------------------------------------------------------------------------------- */

collet_status opencl_programs_create(collet_device *d, collet_error *err);
void opencl_programs_destroy(collet_device *d);

/* A queue's kernels; NULL without memory. Used under the queue's lock. */
opencl_kernels *opencl_kernels_create(void);
/* Releases the kernels and keeps the table. */
void opencl_kernels_clear(const opencl_driver *cl, opencl_kernels *k);
void opencl_kernels_destroy(const opencl_driver *cl, opencl_kernels *k);

/* The queue's own kernel object for a launch, compiled at first; lent. REFUSED with the compiler's
 * words, NO_MEMORY never. */
collet_status opencl_kernel_get(collet_queue *q, const device_launch *l, cl_kernel *kernel,
                                collet_error *err);
/* Forgets all programs; queues forget their kernels before. */
void opencl_programs_trim(collet_device *d);

#endif
