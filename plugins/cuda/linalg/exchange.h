/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.h - decompositions by cuSOLVER, whose matrices are column-major. Kernels of cusolver.dev copy the matrices to
 * the workspace or to an output, scaled, and copy the results back. The transpose of a row-major matrix is
 * column-major: if cuSOLVER computes the transpose of a result, it writes directly to the output, without a copy. */
#pragma once

#include <limits.h>

#include "shared/jit/linalg/slabs.h"
#include "shared/jit/runtime/rows.h"
#include "cuda/runtime/backend.h"
#include "cuda/runtime/library_call.h"
#include "cuda/runtime/ways.h"

#include "exchange_params.h"

/* Column-major matrices with leading dimension `lead`. The first matrix begins `first` bytes after the beginning of the
 * workspace or of an operand, each further matrix `pitch` numbers after the matrix before it. */
typedef struct solver_location {
    int output; /* 1 + the operand; 0: the workspace */
    int lead;
    int64_t first, pitch;
} solver_location;

/* A call while its commands are enqueued. int64_t members other than `count` are offsets into the workspace. */
typedef struct solver_job {
    collet_device *device;
    collet_queue *queue;
    const collet_kernel_call *call;
    collet_dtype dtype;   /* of the matrices */
    int m, n, min_extent; /* extents of the input's matrices */
    int64_t count;        /* number of matrices, > 0 */
    exchange x;           /* common to all launches */
    uint64_t scratch;     /* bytes of the workspace that are reserved */
    int overflow;         /* `scratch` overflowed */
    collet_status status; /* after a failure nothing more is enqueued */
    int launched;
    int possible; /* cuSOLVER supports the call */
    cuda_choice choice;
    int batched;     /* one call of cuSOLVER for all matrices */
    int lwork;       /* size, in numbers, of cuSOLVER's own workspace, which all matrices share */
    int64_t a, work; /* the matrices; cuSOLVER's workspace */
    int64_t places;  /* cholesky: pointers to the matrices */
    int64_t pivots, b, noted;    /* lu and solve; `noted`: flags of columns that are not finite */
    int64_t taus, signs;         /* qr */
    int64_t values, rest;        /* eigh and svd */
    solver_location factor;      /* cholesky */
    solver_location left, right; /* svd */
    int rows, columns; /* svd: the matrices, or their transposes, with rows >= columns; solve:
                          columns of the right-hand side */
    int transposed;
} solver_job;

/* Calls cuSOLVER for matrix i, or for all if `batched`; returns its status. */
typedef int solver_step(const solver_job *j, cusolverDnHandle_t handle, int64_t i);

/* A decomposition by cuSOLVER. */
typedef struct solver_op {
    uint32_t op;       /* COLLET_OP_* */
    uint32_t input;    /* operand with the matrices */
    uint32_t operands; /* operands 0 .. operands-1 have the batch axes */
    int batched_max;   /* extents that the batched function supports; 0: there is none */
    /* Reserves workspace; 0: cuSOLVER does not support the call. */
    int (*reserve)(solver_job *j);
    /* Sets j->lwork; the caller holds the library's lock. Returns the status of cuSOLVER. */
    int (*size)(solver_job *j, cuda_solver *library);
    void (*run)(solver_job *j);
    /* The kernels of plugins/shared/jit, for other calls. */
    jit_run *own;
    jit_accepts *own_accepts;
    int key; /* WAY_LU ... */
} solver_op;

extern const solver_op solver_cholesky, solver_lu, solver_solve, solver_qr; /* factors.c */
extern const solver_op solver_eigh, solver_svd;                             /* spectra.c */

/* Prepares the job of a call. Returns 0 if cuSOLVER is not used. */
int solver_plan(solver_job *j, const solver_op *o, collet_device *device, collet_queue *queue,
                const collet_kernel_call *call);

/* Reserves `count` elements of `size` bytes of the workspace; returns the offset. */
int64_t solver_reserve(solver_job *j, int64_t count, size_t size);
/* The same for numbers of the matrices' dtype, and for real numbers of the same precision. */
int64_t solver_reserve_numbers(solver_job *j, int64_t count);
int64_t solver_reserve_reals(solver_job *j, int64_t count);
/* All reserved bytes, or UINT64_MAX on overflow. */
uint64_t solver_scratch_bytes(const solver_job *j);

/* Reserves column-major matrices in the workspace. If k >= 0 and output k is row-major, uses the memory of this output
 * for the transposes of its matrices instead. */
solver_location solver_locate(solver_job *j, int k, int64_t rows, int64_t columns);
/* The address of matrix i. */
void *solver_at(const solver_job *j, const solver_location *location, int64_t i);

/* Addresses in the workspace: of numbers of the matrices' dtype, of reals and of integers. */
void *solver_number(const solver_job *j, int64_t offset, int64_t index);
void *solver_real(const solver_job *j, int64_t offset, int64_t index);
int *solver_integer(const solver_job *j, int64_t offset, int64_t index);

/* A matrix of m x n numbers in operand k, which is operand `place` of the batch, and the strides and first byte of
 * cuSOLVER's matrix: in the workspace if `output` is 0, else in operand `output` - 1. */
typedef struct solver_matrix {
    uint32_t k, place;
    int64_t m, n, matrix, pitch, down, across;
    int flags;
    int real; /* the numbers are reals */
    int output;
} solver_matrix;

/* Enqueue copies to and from cuSOLVER's matrices. If these are in an output, solver_store only corrects elements. */
void solver_load(solver_job *j, const solver_matrix *what);
void solver_store(solver_job *j, const solver_matrix *what);
/* Enqueues `kernel` of cusolver.dev on output k (-1: no output), the workspace and the exchange. */
void solver_launch(solver_job *j, const char *kernel, int k, uint64_t groups,
                   const solver_matrix *of);
/* Enqueues calls of the library as cuda_library_call does. */
void solver_call(solver_job *j, const char *label, solver_step *step);

/* Calls the function for the matrices' dtype; pointers to data are void *. */
#define SOLVER(j, name, ...)                                                                       \
    ((j)->dtype == COLLET_F32   ? (j)->device->solver.S##name(__VA_ARGS__)                         \
     : (j)->dtype == COLLET_F64 ? (j)->device->solver.D##name(__VA_ARGS__)                         \
     : (j)->dtype == COLLET_C64 ? (j)->device->solver.C##name(__VA_ARGS__)                         \
                                : (j)->device->solver.Z##name(__VA_ARGS__))
