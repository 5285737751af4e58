/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the backend: its objects, and what its files offer each other. */
#ifndef COLLET_CUDA_BACKEND_H
#define COLLET_CUDA_BACKEND_H

#include <pthread.h>
#include <stdatomic.h>

#include "../device/device.h"
#include "../device/pool.h"
#include "blas.h"
#include "compiler.h"
#include "driver.h"

/* Commands of a queue whose names are remembered, a power of two. */
#define CUDA_LABELS 64
/* A queue's marks, and how many commands stand between two. */
#define CUDA_MARKS 16
#define CUDA_MARK_EVERY 32
#define CUDA_MESSAGE 400

typedef struct cuda_programs cuda_programs;

struct collet_device {
    const collet_host *host;
    cuda_driver cu;
    cuda_compiler rtc;
    CUdevice id;
    CUcontext context; /* the primary one, retained */
    device_traits traits;
    uint64_t total_memory;
    int capability;     /* 90 for 9.0 */
    char target[48];    /* the compiler's option */
    char identity[96];  /* what a program's binary depends on beside source and options */
    uint32_t wait_each; /* the setting cuda.sync: every launch is waited for */
    _Atomic int lost;   /* a CUresult, 0: it is not */
    device_pool pool;
    cuda_programs *programs;
    struct plan_cache *tables;
    cuda_blas blas;
    pthread_mutex_t lock; /* of the queues' list */
    collet_queue *queues; /* all that were ever made */
};

/* Happens when the queue has passed ticket `ticket`. */
typedef struct cuda_mark {
    CUevent event;
    uint64_t ticket;
} cuda_mark;

struct collet_queue {
    collet_device *device;
    CUstream handle;
    pthread_mutex_t lock;
    uint64_t submitted;              /* tickets given */
    uint64_t retired;                /* tickets known to have passed */
    uint64_t first_mark, mark_count; /* in the ring `marks`, those not known to have happened */
    collet_status failure;           /* the first since the last wait */
    char failed[CUDA_MESSAGE];
    cublasHandle_t blas; /* made at the first product */
    int idle;            /* destroyed; the next queue_create takes it */
    collet_queue *next;
    cuda_mark marks[CUDA_MARKS];
    const char *labels[CUDA_LABELS]; /* "write", or a kernel's name and options; lent by programs */
};

/* ---- devices.c ------------------------------------------------------------------------------- */

/* Fills traits, capability and total_memory from d->id. */
void cuda_describe(collet_device *d);

collet_status cuda_capabilities(const collet_host *host, char *json, uint64_t capacity,
                                uint64_t *needed, collet_error *err);

/* ---- plugin.c -------------------------------------------------------------------------------- */

/*
 * Makes the device's context this thread's current one, and gives the thread back the one that it
 * had. Every slot's driver calls stand between the two; they nest. CUDA_SUCCESS, or nothing to
 * leave.
 */
CUresult cuda_enter(collet_device *d);
void cuda_leave(collet_device *d);

/* The status for an error of a call: REFUSED when the device is short of something, DEVICE_LOST
 * (and the device is, from then on), else FAILED; with the text "what: CUDA_ERROR_NAME (words)". */
collet_status cuda_fail(collet_device *d, CUresult error, const char *what, collet_error *err);
/* DEVICE_LOST, for a device that was lost before. */
collet_status cuda_gone(collet_device *d, collet_error *err);

/* ---- queue.c --------------------------------------------------------------------------------- */

/* Under the queue's lock: a command named `label` was enqueued. Its ticket. */
uint64_t cuda_commit(collet_queue *q, const char *label);
/* Under the queue's lock: an error that the device came up with is kept for the next wait. */
void cuda_note(collet_queue *q, CUresult error);
/* Under the queue's lock, in the device's context: waits for everything, and keeps what failed. */
void cuda_drain(collet_queue *q);

collet_status cuda_queue_create(collet_device *d, collet_queue **queue, collet_error *err);
void cuda_queue_destroy(collet_device *d, collet_queue *q);
collet_status cuda_queue_wait(collet_device *d, collet_queue *q, collet_error *err);
/* What is known to have failed since the last wait, which will still be told of it. */
collet_status cuda_queue_check(collet_queue *q, collet_error *err);
/* Waits for everything in every queue, which holds no name of a kernel then. */
void cuda_queues_drain(collet_device *d);
/* Gives back what libraries hold for the queues, which have passed everything. */
void cuda_queues_trim(collet_device *d);
/* At device_close. */
void cuda_queues_free(collet_device *d);

/* ---- event.c --------------------------------------------------------------------------------- */

collet_status cuda_event_create(collet_device *d, collet_event **event, collet_error *err);
void cuda_event_destroy(collet_device *d, collet_event *e);
collet_status cuda_event_record(collet_device *d, collet_event *e, collet_queue *q,
                                collet_error *err);
collet_status cuda_event_query(collet_device *d, collet_event *e, collet_error *err);
collet_status cuda_event_wait(collet_device *d, collet_event *e, collet_error *err);
collet_status cuda_queue_wait_event(collet_device *d, collet_queue *q, collet_event *e,
                                    collet_error *err);
collet_status cuda_event_elapsed(collet_device *d, collet_event *first, collet_event *last,
                                 double *milliseconds, collet_error *err);

/* ---- memory.c -------------------------------------------------------------------------------- */

collet_status cuda_buffer_alloc(collet_device *d, uint64_t bytes, collet_buffer **buffer,
                                collet_error *err);
void cuda_buffer_free(collet_device *d, collet_buffer *b);
collet_status cuda_buffer_write(collet_device *d, collet_queue *q, collet_buffer *b,
                                uint64_t offset, const void *source, uint64_t bytes,
                                collet_error *err);
collet_status cuda_buffer_read(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                               void *target, uint64_t bytes, collet_error *err);
collet_status cuda_buffer_copy(collet_device *d, collet_queue *q, collet_buffer *target,
                               uint64_t target_offset, collet_buffer *source,
                               uint64_t source_offset, uint64_t bytes, collet_error *err);
collet_status cuda_buffer_fill(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                               uint64_t bytes, const void *pattern, uint32_t pattern_bytes,
                               collet_error *err);
collet_status cuda_buffer_import(collet_device *d, void *foreign, uint64_t bytes,
                                 collet_buffer **buffer, collet_error *err);
collet_status cuda_host_alloc(collet_device *d, uint64_t bytes, void **address, collet_error *err);
void cuda_host_free(collet_device *d, void *address);
collet_status cuda_memory_stats(collet_device *d, collet_memory_stats *stats, collet_error *err);

/* The address that the driver knows a buffer's memory by. */
static inline CUdeviceptr cuda_address(const collet_buffer *b)
{
    return b ? (CUdeviceptr)(uintptr_t)b->memory : 0;
}

/* ---- program.c ------------------------------------------------------------------------------- */

typedef struct cuda_kernel {
    const device_source *source;
    char *options, *name, *label; /* one allocation; the label is for messages */
    CUfunction handle;
} cuda_kernel;

collet_status cuda_programs_create(collet_device *d, collet_error *err);
void cuda_programs_destroy(collet_device *d);

/*
 * The kernel of a launch, compiled at first; lent until cuda_kernel_done, which every COLLET_OK
 * asks for and before which no program is forgotten. REFUSED with the compiler's words.
 */
collet_status cuda_kernel_get(collet_device *d, const device_launch *l, const cuda_kernel **kernel,
                              collet_error *err);
void cuda_kernel_done(collet_device *d);
/* Forgets all programs, when the queues have passed what was enqueued. */
void cuda_programs_trim(collet_device *d);

#endif
