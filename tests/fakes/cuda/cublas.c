/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in for cuBLAS that computes on the host; see control.h. */
#include "control.h"
#include "cuda/providers/abi/cublas.h"
#include "numbers.h"

#include <stdlib.h>

CUBLAS_FUNCTIONS(ABI_PROTOTYPE)
extern fake_cublas_control fake_cublas;
extern fake_cuda_control fake_cuda;
fake_cublas_control fake_cublas;

__attribute__((destructor)) static void report(void)
{
    fake_cuda.report("cublas", fake_cublas.products, 0);
}

struct cublasContext {
    cudaStream_t stream;
};

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    if (fake_cublas.fails == CUBLAS_STATUS_NOT_INITIALIZED)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    fake_cublas.handles++;
    *handle = calloc(1, sizeof **handle);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    fake_cublas.handles--;
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return stream ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    fake_cublas.math_mode = (int)mode;
    return CUBLAS_STATUS_SUCCESS;
}

/* Part `part` of an element, 1: the imaginary part. */
static double value(const void *data, long long at, cudaDataType type, int part)
{
    if (type == CUDA_R_8I)
        return (double)((const signed char *)data)[at];
    number x = load(data, at, type);
    return part ? cimag(x) : creal(x);
}

static void store_sum(void *data, long long at, cudaDataType type, const double sum[2])
{
    if (type == CUDA_R_32I)
        ((int32_t *)data)[at] = (int32_t)sum[0];
    else
        store(data, at, type, __builtin_complex(sum[0], sum[1]));
}

static int is_complex(cudaDataType type)
{
    return type == CUDA_C_32F || type == CUDA_C_64F;
}

/* Index of element (row, column) of op(X), where X is column-major. */
static long long place(cublasOperation_t operation, long long leading, long long row,
                       long long column)
{
    return operation == CUBLAS_OP_N ? row + column * leading : column + row * leading;
}

static int has_scale_one(const void *one, const void *zero, cublasComputeType_t type, int in_pairs)
{
    if (in_pairs &&
        (value(one, 0, type == CUBLAS_COMPUTE_64F ? CUDA_C_64F : CUDA_C_32F, 1) != 0.0 ||
         value(zero, 0, type == CUBLAS_COMPUTE_64F ? CUDA_C_64F : CUDA_C_32F, 1) != 0.0))
        return 0;
    if (type == CUBLAS_COMPUTE_64F)
        return *(const double *)one == 1.0 && *(const double *)zero == 0.0;
    if (type == CUBLAS_COMPUTE_32I)
        return *(const int32_t *)one == 1 && *(const int32_t *)zero == 0;
    return *(const float *)one == 1.0f && *(const float *)zero == 0.0f;
}

typedef struct product {
    cublasOperation_t transa, transb;
    int m, n, k, lda, ldb, ldc, count;
    const void *a, *b;
    void *c;
    cudaDataType a_type, b_type, c_type;
    long long a_step, b_step, c_step;
} product;

static void add_product(const product *p, long long a, long long b, double sum[2])
{
    double x = value(p->a, a, p->a_type, 0), y = value(p->b, b, p->b_type, 0);
    sum[0] += x * y;
    if (is_complex(p->a_type)) {
        double x_imaginary = value(p->a, a, p->a_type, 1),
               y_imaginary = value(p->b, b, p->b_type, 1);
        sum[0] -= x_imaginary * y_imaginary;
        sum[1] += x * y_imaginary + x_imaginary * y;
    }
}

static void multiply(const product *p)
{
    for (long long i = 0; i < p->count; i++)
        for (long long column = 0; column < p->n; column++)
            for (long long row = 0; row < p->m; row++) {
                double sum[2] = {0.0, 0.0};
                for (long long l = 0; l < p->k; l++)
                    add_product(p, i * p->a_step + place(p->transa, p->lda, row, l),
                                i * p->b_step + place(p->transb, p->ldb, l, column), sum);
                store_sum(p->c, i * p->c_step + row + column * p->ldc, p->c_type, sum);
            }
    fake_cublas.products++;
}

cublasStatus_t cublasGemmStridedBatchedEx(
    cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
    const void *alpha, const void *a, cudaDataType a_type, int lda, long long a_step, const void *b,
    cudaDataType b_type, int ldb, long long b_step, const void *beta, void *c, cudaDataType c_type,
    int ldc, long long c_step, int count, cublasComputeType_t type, cublasGemmAlgo_t algorithm)
{
    if (fake_cublas.fails)
        return (cublasStatus_t)fake_cublas.fails;
    if (a_type == CUDA_R_16F || a_type == CUDA_R_16BF)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (!handle->stream || lda < (transa == CUBLAS_OP_N ? m : k) ||
        ldb < (transb == CUBLAS_OP_N ? k : n) || ldc < m ||
        !has_scale_one(alpha, beta, type, is_complex(c_type)) ||
        is_complex(a_type) != is_complex(c_type) || a_type != b_type)
        return CUBLAS_STATUS_INVALID_VALUE;
    product p = {transa, transb, m, n,      k,      lda,    ldb,    ldc,    count,
                 a,      b,      c, a_type, b_type, c_type, a_step, b_step, c_step};
    fake_cuda.catch_up(handle->stream);
    multiply(&p);
    return CUBLAS_STATUS_SUCCESS;
}
