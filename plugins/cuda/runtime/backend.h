/* SPDX-License-Identifier: Apache-2.0 */
/* backend.h - private: the backend's objects and the functions that its files share. */
#pragma once

#include <collet/extensions.h>

#include "shared/jit/runtime/backend.h"
#include "cuda/providers/nvrtc.h"
#include "cuda/providers/driver.h"
#include "cuda/providers/toolkit.h"

/* A queue keeps the labels of its last CUDA_LABELS commands. A power of two. */
#define CUDA_LABELS 64
/* Events that a queue records to follow its progress. */
#define CUDA_MARKS 64
/* GPUs that support peer copies to this GPU. */
#define CUDA_PEERS 64

/* Another GPU, and whether this GPU can read its memory. */
typedef struct cuda_peer {
    CUcontext context; /* NULL: not yet known */
    int reaches;
} cuda_peer;

struct collet_device {
    jit_base base; /* base.lost: a CUresult */
    cuda_driver cu;
    cuda_compiler rtc;
    CUdevice id;
    CUcontext context;         /* the retained primary context */
    int capability;            /* 90 for 9.0 */
    char target[48];           /* the compiler's option for this capability */
    uint32_t wait_each;        /* setting cuda.sync: wait for every launch */
    pthread_rwlock_t launches; /* read-locked by launches, write-locked to change `kernels` */
    jit_kernels kernels;
    struct ways *ways; /* choice between own kernels and libraries: cuda/runtime/ways.h; constant */
    cuda_blas blas;
    cuda_fourier fourier;
    cuda_solver solver;
    cuda_peer peers[CUDA_PEERS]; /* the index is a GPU's number; protected by base.lock */
};

/* An event recorded after the command with this ticket. */
typedef struct cuda_mark {
    CUevent event;
    uint64_t ticket;
} cuda_mark;

typedef struct cuda_batch cuda_batch;

struct collet_queue {
    jit_queue base;
    CUstream handle;   /* before a command is enqueued here, cuda_batch_submit is called */
    cuda_batch *batch; /* NULL: none was begun */
    uint64_t first_mark, mark_count; /* the pending marks in the ring `marks` */
    cublasHandle_t blas;             /* created by the first product */
    cusolverDnHandle_t solver;       /* created by the first decomposition */
    cuda_mark marks[CUDA_MARKS];
    const char *labels[CUDA_LABELS]; /* "write", or a kernel's label, owned by its program */
};

/* ---- capabilities.c -------------------------------------------------------------------------- */

/* Sets d->base.traits (except has_tiles), d->capability and d->base.total_memory from d->id. */
void cuda_describe(collet_device *d);

collet_status cuda_capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                uint64_t *needed, const collet_host *host, collet_error *err);

/* ---- device.c -------------------------------------------------------------------------------- */

/* cuda_enter pushes the device's context on this thread's stack of contexts; cuda_leave pops it. Every driver
 * call of a slot is made between these two calls. Pairs may nest. If cuda_enter fails, do not call cuda_leave. */
CUresult cuda_enter(collet_device *d);
void cuda_leave(collet_device *d);
/* One driver call between cuda_enter and cuda_leave: its CUresult, or the error of cuda_enter. */
#define CUDA_IN_CONTEXT(d, call)                                                                   \
    ({                                                                                             \
        CUresult result_ = cuda_enter(d);                                                          \
        if (result_ == CUDA_SUCCESS) {                                                             \
            result_ = (call);                                                                      \
            cuda_leave(d);                                                                         \
        }                                                                                          \
        result_;                                                                                   \
    })

/* The status for an error of the driver: REFUSED if a resource is short, DEVICE_LOST if the device was lost (the
 * function also marks it as lost), else FAILED; sets the text "what: CUDA_ERROR_NAME (description)". */
collet_status cuda_fail(collet_device *d, CUresult error, const char *what, collet_error *err);

/* ---- The parts of the driver (shared/jit/runtime/driver.h) ----------------------------------- */

extern const jit_device_slots cuda_devices;
extern const jit_memory_slots cuda_memory;
extern const jit_program_slots cuda_programs;
extern const jit_queue_slots cuda_queues;
extern const jit_copy_slots cuda_copies;
collet_status cuda_launch(collet_device *d, collet_queue *q, const jit_launch *l, uint64_t groups,
                          collet_error *err);

/* ---- queue.c --------------------------------------------------------------------------------- */

/* Returns the ticket of the command that was just enqueued. The caller holds the queue's lock. */
uint64_t cuda_commit(collet_queue *q, const char *label);
/* Records a mark, so that waiting for the last ticket does not wait for later commands. The caller
 * holds the queue's lock and is in the device's context. */
CUresult cuda_mark_now(collet_queue *q);
/* Stores an asynchronous error, which the next wait reports. The caller holds the queue's lock. */
void cuda_note_error(collet_queue *q, CUresult error);

extern const collet_timing_extension cuda_timing;
extern const collet_batch_extension cuda_batches;

/* Submits the launches that the queue holds back. An error is stored for the next wait, and returned. The caller holds
 * the queue's lock and is in the device's context. */
CUresult cuda_submit(collet_queue *q);

/* ---- batch.c: launches that are held back and submitted together. The caller of these functions holds the queue's
 * lock and is in the device's context. ---- */

/* From now on launches are held back; 0: no memory. */
int cuda_batch_begin(collet_queue *q, const void *key);
void cuda_batch_end(collet_queue *q);
/* 1: the launch is held back. 0: the caller submits what is held, and launches. */
int cuda_batch_add(collet_queue *q, CUfunction function, const jit_launch *l, uint64_t groups);
/* Submits the launches that are held. */
CUresult cuda_batch_submit(collet_queue *q);
/* How many launches are held; whether launches are held back; forgets those that are held. */
uint64_t cuda_batch_held(const collet_queue *q);
int cuda_batch_is_on(const collet_queue *q);
void cuda_batch_drop(collet_queue *q);
/* Releases the graphs, or everything; nothing is held. */
void cuda_batch_forget(collet_queue *q);
void cuda_batch_free(collet_queue *q);

/* ---- ways.c ---------------------------------------------------------------------------------- */

/* Sets d->ways. Calibration measures only the first GPU; its results apply to all GPUs of the same name. NO_MEMORY. */
collet_status cuda_ways_open(collet_device *d, collet_error *err);

/* ---- native.c -------------------------------------------------------------------------------- */

extern const collet_native_extension cuda_native;

/* ---- memory.c -------------------------------------------------------------------------------- */

/* Sets the bytes to 0, in queue order. */
collet_status cuda_clear(collet_device *d, collet_queue *q, collet_buffer *b, uint64_t offset,
                         uint64_t bytes, collet_error *err);
extern const collet_pinned_extension cuda_pinned;
/* CU_MEMORYTYPE_HOST (page-locked) or CU_MEMORYTYPE_DEVICE; 0: not memory of CUDA. */
unsigned cuda_memory_type(collet_device *d, CUdeviceptr address);

/* A buffer's device address. */
static inline CUdeviceptr cuda_address(const collet_buffer *b)
{
    return b ? (CUdeviceptr)(uintptr_t)b->memory : 0;
}
