/* SPDX-License-Identifier: Apache-2.0 */
/* solver.h - cuSOLVER, for decompositions: library.h says when it is opened. */
#ifndef COLLET_CUDA_SOLVER_H
#define COLLET_CUDA_SOLVER_H

#include <cusolverDn.h>

#include "library.h"

#define CUSOLVER_FUNCTIONS(X)                                                                      \
    X(Create)                                                                                      \
    X(Destroy)                                                                                     \
    X(SetStream)                                                                                   \
    X(CreateSyevjInfo)                                                                             \
    X(DestroySyevjInfo)                                                                            \
    X(CreateGesvdjInfo)                                                                            \
    X(DestroyGesvdjInfo)                                                                           \
    CUSOLVER_TYPED_FUNCTIONS(X, S)                                                                 \
    CUSOLVER_TYPED_FUNCTIONS(X, D)

/* Of f32 (S) and f64 (D). */
#define CUSOLVER_TYPED_FUNCTIONS(X, T)                                                             \
    X(T##potrf_bufferSize)                                                                         \
    X(T##potrf)                                                                                    \
    X(T##potrfBatched)                                                                             \
    X(T##getrf_bufferSize)                                                                         \
    X(T##getrf)                                                                                    \
    X(T##getrs)                                                                                    \
    X(T##geqrf_bufferSize)                                                                         \
    X(T##geqrf)                                                                                    \
    X(T##orgqr_bufferSize)                                                                         \
    X(T##orgqr)                                                                                    \
    X(T##syevd_bufferSize)                                                                         \
    X(T##syevd)                                                                                    \
    X(T##syevjBatched_bufferSize)                                                                  \
    X(T##syevjBatched)                                                                             \
    X(T##gesvd_bufferSize)                                                                         \
    X(T##gesvd)                                                                                    \
    X(T##gesvdjBatched_bufferSize)                                                                 \
    X(T##gesvdjBatched)

extern const cuda_library_facts cuda_solver_facts;

typedef struct cuda_solver {
    cuda_library library;
    /* Made under library.lock at the first call; they answer for sizes, hold nothing of a call
     * and stay. */
    cusolverDnHandle_t sizes;
    syevjInfo_t eigenvalues;
    gesvdjInfo_t singular_values;
#define MEMBER(name) __typeof__(&cusolverDn##name) name;
    CUSOLVER_FUNCTIONS(MEMBER)
#undef MEMBER
} cuda_solver;

/* 1 when cuSOLVER is open and its handle for sizes is there. In the device's context. */
int cuda_solver_ready(collet_device *device);
/* Gives that handle back; nothing is under way. */
void cuda_solver_close(collet_device *device);
/* The queue's handle, under its lock and in the device's context; NULL when there is none to have.
 */
cusolverDnHandle_t cuda_solver_handle(collet_queue *queue);

#endif
