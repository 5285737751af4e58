/* SPDX-License-Identifier: Apache-2.0 */
/* The part of cuBLAS's ABI that is used (see shared/jit/runtime/abi.h). Includes the data types that cuFFT shares. */
#pragma once

#include "cuda.h"

#define CUBLAS_CONSTANTS(X)                                                                        \
    X(CUBLAS_COMPUTE_32F, 68)                                                                      \
    X(CUBLAS_COMPUTE_64F, 70)                                                                      \
    X(CUBLAS_COMPUTE_32I, 72)                                                                      \
    X(CUBLAS_DEFAULT_MATH, 0)                                                                      \
    X(CUBLAS_FILL_MODE_LOWER, 0)                                                                   \
    X(CUBLAS_FILL_MODE_UPPER, 1)                                                                   \
    X(CUBLAS_GEMM_DEFAULT, -1)                                                                     \
    X(CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION, 16)                                        \
    X(CUBLAS_OP_N, 0)                                                                              \
    X(CUBLAS_OP_T, 1)                                                                              \
    X(CUBLAS_STATUS_SUCCESS, 0)                                                                    \
    X(CUBLAS_STATUS_NOT_INITIALIZED, 1)                                                            \
    X(CUBLAS_STATUS_ALLOC_FAILED, 3)                                                               \
    X(CUBLAS_STATUS_INVALID_VALUE, 7)                                                              \
    X(CUBLAS_STATUS_ARCH_MISMATCH, 8)                                                              \
    X(CUBLAS_STATUS_NOT_SUPPORTED, 15)                                                             \
    X(CUDA_C_32F, 4)                                                                               \
    X(CUDA_C_64F, 5)                                                                               \
    X(CUDA_R_32F, 0)                                                                               \
    X(CUDA_R_64F, 1)                                                                               \
    X(CUDA_R_16F, 2)                                                                               \
    X(CUDA_R_8I, 3)                                                                                \
    X(CUDA_R_32I, 10)                                                                              \
    X(CUDA_R_16BF, 14)

#ifndef COLLET_CUDA_TOOLKIT
enum { CUBLAS_CONSTANTS(ABI_CONSTANT) };
typedef int cublasStatus_t, cublasOperation_t, cublasFillMode_t, cublasMath_t, cublasComputeType_t,
    cublasGemmAlgo_t, cudaDataType;
typedef struct cublasContext *cublasHandle_t;
typedef float _Complex cuComplex;
typedef double _Complex cuDoubleComplex;
#endif

#define CUBLAS_FUNCTIONS(X)                                                                        \
    X(cublasStatus_t, Create, cublasCreate_v2, (cublasHandle_t * handle))                          \
    X(cublasStatus_t, Destroy, cublasDestroy_v2, (cublasHandle_t handle))                          \
    X(cublasStatus_t, SetStream, cublasSetStream_v2, (cublasHandle_t handle, cudaStream_t stream)) \
    X(cublasStatus_t, SetMathMode, cublasSetMathMode, (cublasHandle_t handle, cublasMath_t mode))  \
    X(cublasStatus_t, GemmStridedBatchedEx, cublasGemmStridedBatchedEx,                            \
      (cublasHandle_t handle, cublasOperation_t a_as, cublasOperation_t b_as, int m, int n, int k, \
       const void *alpha, const void *a, cudaDataType a_type, int a_leading, long long a_step,     \
       const void *b, cudaDataType b_type, int b_leading, long long b_step, const void *beta,      \
       void *c, cudaDataType c_type, int c_leading, long long c_step, int count,                   \
       cublasComputeType_t compute, cublasGemmAlgo_t algorithm))
