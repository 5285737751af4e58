/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas.h - cuBLAS, opened at the first product that it can compute. Where it is missing, or says no
 * to a product, the family's own kernel serves.
 */
#ifndef COLLET_CUDA_BLAS_H
#define COLLET_CUDA_BLAS_H

#include <pthread.h>

#include <cublas_v2.h>

#include <collet/plugin.h>

#define CUBLAS_FUNCTIONS(X)                                                                        \
    X(Create, "cublasCreate_v2")                                                                   \
    X(Destroy, "cublasDestroy_v2")                                                                 \
    X(SetStream, "cublasSetStream_v2")                                                             \
    X(SetMathMode, "cublasSetMathMode")                                                            \
    X(GemmStridedBatchedEx, "cublasGemmStridedBatchedEx")

typedef struct cuda_blas {
    pthread_mutex_t lock;
    int tried; /* opened, or found missing */
    void *library;
#define MEMBER(name, symbol) __typeof__(&cublas##name) name;
    CUBLAS_FUNCTIONS(MEMBER)
#undef MEMBER
} cuda_blas;

/*
 * 1 when the library is open: what the setting cuda.cublas names, unless that is "off", else
 * libcublas.so of the driver's major version or an older one. Tried once; where it is missing that
 * is logged. Any thread.
 */
int cuda_blas_ready(const collet_host *host, int driver, cuda_blas *blas);

#endif
