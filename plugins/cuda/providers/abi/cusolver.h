/* SPDX-License-Identifier: Apache-2.0 */
/* The part of cuSOLVER's ABI that is used: shared/jit/runtime/abi.h. */
#pragma once

#include "cublas.h"

#define CUSOLVER_CONSTANTS(X)                                                                      \
    X(CUSOLVER_EIG_MODE_VECTOR, 1)                                                                 \
    X(CUSOLVER_STATUS_SUCCESS, 0)                                                                  \
    X(CUSOLVER_STATUS_NOT_INITIALIZED, 1)                                                          \
    X(CUSOLVER_STATUS_ALLOC_FAILED, 2)                                                             \
    X(CUSOLVER_STATUS_INVALID_VALUE, 3)                                                            \
    X(CUSOLVER_STATUS_ARCH_MISMATCH, 4)                                                            \
    X(CUSOLVER_STATUS_EXECUTION_FAILED, 6)                                                         \
    X(CUSOLVER_STATUS_INTERNAL_ERROR, 7)                                                           \
    X(CUSOLVER_STATUS_NOT_SUPPORTED, 9)

#ifndef COLLET_CUDA_TOOLKIT
enum { CUSOLVER_CONSTANTS(ABI_CONSTANT) };
typedef int cusolverStatus_t, cusolverEigMode_t;
typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct syevjInfo *syevjInfo_t;
typedef struct gesvdjInfo *gesvdjInfo_t;
#endif

#define CUSOLVER_FUNCTIONS(X)                                                                      \
    X(cusolverStatus_t, Create, cusolverDnCreate, (cusolverDnHandle_t * handle))                   \
    X(cusolverStatus_t, Destroy, cusolverDnDestroy, (cusolverDnHandle_t handle))                   \
    X(cusolverStatus_t, SetStream, cusolverDnSetStream,                                            \
      (cusolverDnHandle_t handle, cudaStream_t stream))                                            \
    X(cusolverStatus_t, CreateSyevjInfo, cusolverDnCreateSyevjInfo, (syevjInfo_t * info))          \
    X(cusolverStatus_t, DestroySyevjInfo, cusolverDnDestroySyevjInfo, (syevjInfo_t info))          \
    X(cusolverStatus_t, CreateGesvdjInfo, cusolverDnCreateGesvdjInfo, (gesvdjInfo_t * info))       \
    X(cusolverStatus_t, DestroyGesvdjInfo, cusolverDnDestroyGesvdjInfo, (gesvdjInfo_t info))       \
    CUSOLVER_TYPED_FUNCTIONS(X, S, float, float, or, sy)                                           \
    CUSOLVER_TYPED_FUNCTIONS(X, D, double, double, or, sy)                                         \
    CUSOLVER_TYPED_FUNCTIONS(X, C, cuComplex, float, un, he)                                       \
    CUSOLVER_TYPED_FUNCTIONS(X, Z, cuDoubleComplex, double, un, he)

/* The routines for numbers of type `number`, whose parts have type `real`. LAPACK names them or... and sy... if the
 * numbers are real, and un... and he... if they are complex; the members have the names of the real routines. */
#define CUSOLVER_TYPED_FUNCTIONS(X, T, number, real, un, he)                                       \
    X(cusolverStatus_t, T##potrf_bufferSize, cusolverDn##T##potrf_bufferSize,                      \
      (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, number *a, int lda,                \
       int *work_size))                                                                            \
    X(cusolverStatus_t, T##potrf, cusolverDn##T##potrf,                                            \
      (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, number *a, int lda, number *work,  \
       int work_size, int *info))                                                                  \
    X(cusolverStatus_t, T##potrfBatched, cusolverDn##T##potrfBatched,                              \
      (cusolverDnHandle_t handle, cublasFillMode_t uplo, int n, number **a, int lda, int *info,    \
       int count))                                                                                 \
    X(cusolverStatus_t, T##getrf_bufferSize, cusolverDn##T##getrf_bufferSize,                      \
      (cusolverDnHandle_t handle, int m, int n, number *a, int lda, int *work_size))               \
    X(cusolverStatus_t, T##getrf, cusolverDn##T##getrf,                                            \
      (cusolverDnHandle_t handle, int m, int n, number *a, int lda, number *work, int *pivots,     \
       int *info))                                                                                 \
    X(cusolverStatus_t, T##getrs, cusolverDn##T##getrs,                                            \
      (cusolverDnHandle_t handle, cublasOperation_t a_as, int n, int columns, const number *a,     \
       int lda, const int *pivots, number *b, int ldb, int *info))                                 \
    X(cusolverStatus_t, T##geqrf_bufferSize, cusolverDn##T##geqrf_bufferSize,                      \
      (cusolverDnHandle_t handle, int m, int n, number *a, int lda, int *work_size))               \
    X(cusolverStatus_t, T##geqrf, cusolverDn##T##geqrf,                                            \
      (cusolverDnHandle_t handle, int m, int n, number *a, int lda, number *tau, number *work,     \
       int work_size, int *info))                                                                  \
    X(cusolverStatus_t, T##orgqr_bufferSize, cusolverDn##T##un##gqr_bufferSize,                    \
      (cusolverDnHandle_t handle, int m, int n, int k, const number *a, int lda,                   \
       const number *tau, int *work_size))                                                         \
    X(cusolverStatus_t, T##orgqr, cusolverDn##T##un##gqr,                                          \
      (cusolverDnHandle_t handle, int m, int n, int k, number *a, int lda, const number *tau,      \
       number *work, int work_size, int *info))                                                    \
    X(cusolverStatus_t, T##syevd_bufferSize, cusolverDn##T##he##evd_bufferSize,                    \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo, int n,             \
       const number *a, int lda, const real *w, int *work_size))                                   \
    X(cusolverStatus_t, T##syevd, cusolverDn##T##he##evd,                                          \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo, int n, number *a,  \
       int lda, real *w, number *work, int work_size, int *info))                                  \
    X(cusolverStatus_t, T##syevjBatched_bufferSize, cusolverDn##T##he##evjBatched_bufferSize,      \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo, int n,             \
       const number *a, int lda, const real *w, int *work_size, syevjInfo_t how, int count))       \
    X(cusolverStatus_t, T##syevjBatched, cusolverDn##T##he##evjBatched,                            \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, cublasFillMode_t uplo, int n, number *a,  \
       int lda, real *w, number *work, int work_size, int *info, syevjInfo_t how, int count))      \
    X(cusolverStatus_t, T##gesvd_bufferSize, cusolverDn##T##gesvd_bufferSize,                      \
      (cusolverDnHandle_t handle, int m, int n, int *work_size))                                   \
    X(cusolverStatus_t, T##gesvd, cusolverDn##T##gesvd,                                            \
      (cusolverDnHandle_t handle, signed char left, signed char right, int m, int n, number *a,    \
       int lda, real *s, number *u, int ldu, number *vt, int ldvt, number *work, int work_size,    \
       real *rwork, int *info))                                                                    \
    X(cusolverStatus_t, T##gesvdjBatched_bufferSize, cusolverDn##T##gesvdjBatched_bufferSize,      \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, int m, int n, const number *a, int lda,   \
       const real *s, const number *u, int ldu, const number *v, int ldv, int *work_size,          \
       gesvdjInfo_t how, int count))                                                               \
    X(cusolverStatus_t, T##gesvdjBatched, cusolverDn##T##gesvdjBatched,                            \
      (cusolverDnHandle_t handle, cusolverEigMode_t job, int m, int n, number *a, int lda,         \
       real *s, number *u, int ldu, number *v, int ldv, number *work, int work_size, int *info,    \
       gesvdjInfo_t how, int count))
