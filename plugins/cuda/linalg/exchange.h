/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange.h - decompositions by cuSOLVER: kernels of cusolver.dev copy the matrices to the
 * workspace, scaled and in column-major order, and the results back.
 */
#ifndef COLLET_CUDA_EXCHANGE_H
#define COLLET_CUDA_EXCHANGE_H

#include <limits.h>

#include "shared/jit/linalg/slabs.h"
#include "cuda/runtime/backend.h"
#include "cuda/runtime/library_call.h"

#include "exchange_params.h"

/* A call while its commands are enqueued. */
typedef struct solver_job {
    collet_device *device;
    collet_queue *queue;
    const collet_kernel_call *call;
    int wide;             /* f64 */
    int m, n, min_extent; /* of the input's matrices */
    int64_t count;        /* number of matrices, > 0 */
    exchange x;           /* common to all launches */
    uint64_t scratch;     /* bytes of the workspace that are reserved */
    int overflow;         /* `scratch` overflowed */
    collet_status status; /* after a failure nothing more is enqueued */
    int launched;
} solver_job;

/*
 * Begins a job on the matrices of operand `input`; operands 0 .. operands-1 have the same batch
 * axes. 0: cuSOLVER does not support the extents.
 */
int solver_begin(solver_job *j, collet_device *device, collet_queue *queue,
                 const collet_kernel_call *call, uint32_t input, uint32_t operands);

/* Whether cuSOLVER is used: one matrix after another, or all in one batched call, which supports
 * `most` rows and columns. */
int solver_serves(const solver_job *j);
int solver_serves_batched(const solver_job *j, int most);

/* Reserves `count` elements of `size` bytes of the workspace; returns the offset. */
int64_t solver_reserve(solver_job *j, int64_t count, size_t size);
/* The same for numbers of the call's type. */
int64_t solver_reserve_numbers(solver_job *j, int64_t count);
/* All reserved bytes, or UINT64_MAX on overflow. */
uint64_t solver_scratch_bytes(const solver_job *j);

/* The address of an offset into the workspace. */
void *solver_address(const solver_job *j, int64_t offset);

/* m x n numbers of operand k, the batch's operand `place`, and their place in the workspace. */
typedef struct solver_matrix {
    uint32_t k, place;
    int64_t m, n, matrix, pitch, down, across;
    int flags;
} solver_matrix;

/* Enqueue copies to and from the workspace. */
void solver_load(solver_job *j, const solver_matrix *what);
void solver_store(solver_job *j, const solver_matrix *what);
/* Enqueues `kernel` of cusolver.dev. Its arguments: operand k (none if -1), the workspace, `what`
 * (none if -1), the exchange. */
void solver_launch(solver_job *j, const char *kernel, int k, int what, uint64_t groups,
                   const solver_matrix *of);
/* Enqueues writing pointers to the matrices at offset `places`. */
void solver_pointers(solver_job *j, int64_t places, const solver_matrix *of);
/* Enqueues calls of the library as cuda_library_call does. */
void solver_call(solver_job *j, const char *label, int (*calls)(void *context, int *code),
                 void *context);

/* Under the queue's lock, in the device's context: its handle, created on first use; NULL on
 * failure. */
cusolverDnHandle_t solver_handle(collet_queue *queue);
/* The outcome (library_call.h) of a cusolverStatus_t. */
int solver_outcome(int status, int *code);

/* Calls the function for f32 or f64; pointers to data are void *. */
#define SOLVER(j, name, ...)                                                                       \
    ((j)->wide ? (j)->device->solver.D##name(__VA_ARGS__)                                          \
               : (j)->device->solver.S##name(__VA_ARGS__))

#endif
