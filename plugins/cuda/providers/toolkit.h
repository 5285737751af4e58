/* SPDX-License-Identifier: Apache-2.0 */
/* toolkit.h - cuBLAS for products, cuFFT for transforms and cuSOLVER for decompositions; opened as
 * library.h describes. */
#pragma once

#include "abi/cublas.h"
#include "abi/cufft.h"
#include "abi/cusolver.h"
#include "library.h"

extern const cuda_library_facts cuda_blas_facts, cuda_fourier_facts, cuda_solver_facts;

typedef struct cuda_blas {
    cuda_library library;
    CUBLAS_FUNCTIONS(ABI_MEMBER)
} cuda_blas;

typedef struct cuda_fourier {
    cuda_library library;
    struct plan_cache *plans; /* created by fft/fft.c on first use; owned by the device */
    CUFFT_FUNCTIONS(ABI_MEMBER)
} cuda_fourier;

typedef struct cuda_solver {
    cuda_library library;
    /* The handle for size queries; the first call creates it under library.lock. */
    cusolverDnHandle_t sizes;
    syevjInfo_t eigenvalues;
    gesvdjInfo_t singular_values;
    CUSOLVER_FUNCTIONS(ABI_MEMBER)
} cuda_solver;

/* 1 if cuSOLVER is open and has its handle for size queries. Call it in the device's context. */
int cuda_solver_ready(const collet_host *host, int driver, cuda_solver *solver);
/* Destroys that handle. Call it in the device's context, with no call in progress. */
void cuda_solver_close(cuda_solver *solver);
