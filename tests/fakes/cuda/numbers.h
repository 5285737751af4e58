/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - elements of the types of CUDA's libraries. Tests: tests/cuda/test_cuda_blas.c */
#ifndef TESTS_FAKES_CUDA_NUMBERS_H
#define TESTS_FAKES_CUDA_NUMBERS_H

#include <complex.h>

#include "cuda/providers/abi/cublas.h"

typedef double complex number;

static inline number load(const void *data, long long at, cudaDataType type)
{
    switch (type) {
    case CUDA_R_32F:
        return (double)((const float *)data)[at];
    case CUDA_R_64F:
        return ((const double *)data)[at];
    case CUDA_C_32F:
        return __builtin_complex((double)((const float *)data)[2 * at],
                                 (double)((const float *)data)[2 * at + 1]);
    default:
        return __builtin_complex(((const double *)data)[2 * at],
                                 ((const double *)data)[2 * at + 1]);
    }
}

static inline void store(void *data, long long at, cudaDataType type, number x)
{
    switch (type) {
    case CUDA_R_32F:
        ((float *)data)[at] = (float)creal(x);
        break;
    case CUDA_R_64F:
        ((double *)data)[at] = creal(x);
        break;
    case CUDA_C_32F:
        ((float *)data)[2 * at] = (float)creal(x);
        ((float *)data)[2 * at + 1] = (float)cimag(x);
        break;
    default:
        ((double *)data)[2 * at] = creal(x);
        ((double *)data)[2 * at + 1] = cimag(x);
    }
}

#endif
