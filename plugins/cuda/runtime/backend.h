/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the backend: its objects, and what its files offer each other. */
#ifndef COLLET_CUDA_BACKEND_H
#define COLLET_CUDA_BACKEND_H

#include "shared/jit/runtime/backend.h"
#include "cuda/providers/cublas.h"
#include "cuda/providers/nvrtc.h"
#include "cuda/providers/driver.h"
#include "cuda/providers/cufft.h"
#include "cuda/providers/cusolver.h"

/* Commands of a queue whose names are remembered, a power of two. */
#define CUDA_LABELS 64
/* A queue's marks, and how many commands stand between two. */
#define CUDA_MARKS 16
#define CUDA_MARK_EVERY 32
/* GPUs that a GPU may copy from. */
#define CUDA_PEERS 64

/* Whether the GPU with this context can be read. */
typedef struct cuda_peer {
    CUcontext context; /* NULL: not asked yet */
    int reaches;
} cuda_peer;

struct collet_device {
    jit_base base; /* base.lost: a CUresult */
    cuda_driver cu;
    cuda_compiler rtc;
    CUdevice id;
    CUcontext context;         /* the primary one, retained */
    int capability;            /* 90 for 9.0 */
    char target[48];           /* the compiler's option */
    uint32_t wait_each;        /* the setting cuda.sync: every launch is waited for */
    pthread_rwlock_t launches; /* held shared by launches, alone by what changes `kernels` */
    jit_kernels kernels;
    cuda_blas blas;
    cuda_fourier fourier;
    cuda_solver solver;
    cuda_peer peers[CUDA_PEERS]; /* by number of the GPU; under base.lock */
};

/* Happens when the queue has passed ticket `ticket`. */
typedef struct cuda_mark {
    CUevent event;
    uint64_t ticket;
} cuda_mark;

struct collet_queue {
    jit_queue base;
    CUstream handle;
    uint64_t first_mark, mark_count; /* in the ring `marks`, those not known to have happened */
    cublasHandle_t blas;             /* made at the first product */
    cusolverDnHandle_t solver;       /* made at the first decomposition */
    cuda_mark marks[CUDA_MARKS];
    const char *labels[CUDA_LABELS]; /* "write", or a kernel's label; lent by programs */
};

/* ---- capabilities.c -------------------------------------------------------------------------- */

/* Fills traits, but for has_tiles, capability and total_memory from d->id. */
void cuda_describe(collet_device *d);

collet_status cuda_capabilities(const collet_host *host, char *json, uint64_t capacity,
                                uint64_t *needed, collet_error *err);

/* ---- context.c ------------------------------------------------------------------------------- */

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

/* ---- queue.c --------------------------------------------------------------------------------- */

/* Under the queue's lock: a command named `label` was enqueued. Its ticket. */
uint64_t cuda_commit(collet_queue *q, const char *label);
/* Under the queue's lock, in the device's context: whoever waits for the last ticket waits for no
 * command after it. */
CUresult cuda_mark_now(collet_queue *q);
/* Under the queue's lock: an error that the device came up with is kept for the next wait. */
void cuda_note(collet_queue *q, CUresult error);

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

/* ---- device.c -------------------------------------------------------------------------------- */

void cuda_trim(collet_device *d);
collet_status cuda_native_handle(collet_device *d, collet_queue *q, collet_buffer *b, void **handle,
                                 collet_error *err);

/* ---- memory.c -------------------------------------------------------------------------------- */

collet_status cuda_buffer_copy(collet_device *d, collet_queue *q, collet_buffer *target,
                               uint64_t target_offset, collet_buffer *source,
                               uint64_t source_offset, uint64_t bytes, collet_error *err);
collet_status cuda_buffer_fill(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                               uint64_t bytes, const void *pattern, uint32_t pattern_bytes,
                               collet_error *err);
collet_status cuda_host_alloc(collet_device *d, uint64_t bytes, void **address, collet_error *err);
void cuda_host_free(collet_device *d, void *address);
collet_status cuda_memory_stats(collet_device *d, collet_memory_stats *stats, collet_error *err);

/* The address that the driver knows a buffer's memory by. */
static inline CUdeviceptr cuda_address(const collet_buffer *b)
{
    return b ? (CUdeviceptr)(uintptr_t)b->memory : 0;
}

#endif
