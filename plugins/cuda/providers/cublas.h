/* SPDX-License-Identifier: Apache-2.0 */
/* cublas.h - cuBLAS, for products; opened as library.h describes. */
#ifndef COLLET_CUDA_CUBLAS_H
#define COLLET_CUDA_CUBLAS_H

#include "abi/cublas.h"
#include "library.h"

extern const cuda_library_facts cuda_blas_facts;

typedef struct cuda_blas {
    cuda_library library;
    CUBLAS_FUNCTIONS(ABI_MEMBER)
} cuda_blas;

static inline int cuda_blas_ready(const collet_host *host, int driver, cuda_blas *blas)
{
    return cuda_library_ready(host, driver, &cuda_blas_facts, &blas->library);
}

#endif
