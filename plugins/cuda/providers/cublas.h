/* SPDX-License-Identifier: Apache-2.0 */
/* blas.h - cuBLAS, for products: library.h says when it is opened. */
#ifndef COLLET_CUDA_BLAS_H
#define COLLET_CUDA_BLAS_H

#include <cublas_v2.h>

#include "library.h"

#define CUBLAS_FUNCTIONS(X)                                                                        \
    X(Create, "cublasCreate_v2")                                                                   \
    X(Destroy, "cublasDestroy_v2")                                                                 \
    X(SetStream, "cublasSetStream_v2")                                                             \
    X(SetMathMode, "cublasSetMathMode")                                                            \
    X(GemmStridedBatchedEx, "cublasGemmStridedBatchedEx")

extern const cuda_library_facts cuda_blas_facts;

typedef struct cuda_blas {
    cuda_library library;
#define MEMBER(name, symbol) __typeof__(&cublas##name) name;
    CUBLAS_FUNCTIONS(MEMBER)
#undef MEMBER
} cuda_blas;

static inline int cuda_blas_ready(const collet_host *host, int driver, cuda_blas *blas)
{
    return cuda_library_ready(host, driver, &cuda_blas_facts, &blas->library);
}

#endif
