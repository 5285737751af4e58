/* SPDX-License-Identifier: Apache-2.0 */
/* The part of cuFFT's ABI that is used: shared/jit/runtime/abi.h. */
#pragma once

#include <stddef.h>

#include "cublas.h"

#define CUFFT_CONSTANTS(X)                                                                         \
    X(CUFFT_ALLOC_FAILED, 2)                                                                       \
    X(CUFFT_EXEC_FAILED, 6)                                                                        \
    X(CUFFT_FORWARD, -1)                                                                           \
    X(CUFFT_INTERNAL_ERROR, 5)                                                                     \
    X(CUFFT_INVALID_PLAN, 1)                                                                       \
    X(CUFFT_INVALID_VALUE, 4)                                                                      \
    X(CUFFT_INVALID_SIZE, 8)                                                                       \
    X(CUFFT_INVERSE, 1)                                                                            \
    X(CUFFT_NOT_SUPPORTED, 16)                                                                     \
    X(CUFFT_SETUP_FAILED, 7)                                                                       \
    X(CUFFT_SUCCESS, 0)

#ifndef COLLET_CUDA_TOOLKIT
enum { CUFFT_CONSTANTS(ABI_CONSTANT) };
typedef int cufftResult, cufftHandle;
#endif

#define CUFFT_FUNCTIONS(X)                                                                         \
    X(cufftResult, Create, cufftCreate, (cufftHandle * plan))                                      \
    X(cufftResult, Destroy, cufftDestroy, (cufftHandle plan))                                      \
    X(cufftResult, SetStream, cufftSetStream, (cufftHandle plan, cudaStream_t stream))             \
    X(cufftResult, SetAutoAllocation, cufftSetAutoAllocation, (cufftHandle plan, int automatic))   \
    X(cufftResult, SetWorkArea, cufftSetWorkArea, (cufftHandle plan, void *area))                  \
    X(cufftResult, XtMakePlanMany, cufftXtMakePlanMany,                                            \
      (cufftHandle plan, int rank, long long *n, long long *in_embed, long long in_stride,         \
       long long in_step, cudaDataType in_type, long long *out_embed, long long out_stride,        \
       long long out_step, cudaDataType out_type, long long count, size_t *work_bytes,             \
       cudaDataType compute))                                                                      \
    X(cufftResult, XtExec, cufftXtExec, (cufftHandle plan, void *in, void *out, int direction))
