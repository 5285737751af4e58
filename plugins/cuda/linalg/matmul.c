/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cuda/test_cuda_blas.c */
#include <limits.h>

#include "shared/jit/linalg/linalg.h"
#include "shared/jit/linalg/matrices.h"
#include "cuda/runtime/backend.h"
#include "cuda/runtime/library_call.h"
#include "cuda/runtime/ways.h"

/* Products with fewer elements are left to plugins/shared/jit. */
#define MIN_ELEMENTS 1024
/* This many products of i8 cannot overflow i32. */
#define EXACT_INNER_MAX 131071

/* A row-major matrix X as seen by column-major cuBLAS: X transposed. */
typedef struct layout {
    CUdeviceptr address;
    cublasOperation_t operation; /* N: X's rows are contiguous; T: its columns are */
    int leading;
    long long step; /* elements between matrices of the batch */
} layout;

typedef struct product {
    int rows, columns, inner, count;
    cuda_choice choice;
    layout c, a, b;
    cudaDataType to, from;
    cublasComputeType_t compute;
} product;

static int lay_out(layout *m, const jit_batch *v, uint32_t k, const collet_operand *o, int64_t rows,
                   int64_t columns)
{
    jit_layout l;
    if (!jit_batch_layout(&l, v, k, rows, columns) || l.leading > INT_MAX)
        return 0;
    m->operation = l.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    m->address = cuda_address(o->buffer) + o->byte_offset;
    m->leading = (int)l.leading;
    m->step = l.step;
    return 1;
}

static void choose_types(product *p, collet_dtype to, collet_dtype from)
{
    static const cudaDataType types[COLLET_DTYPE_COUNT] = {
        [COLLET_F32] = CUDA_R_32F,   [COLLET_F64] = CUDA_R_64F, [COLLET_F16] = CUDA_R_16F,
        [COLLET_BF16] = CUDA_R_16BF, [COLLET_I8] = CUDA_R_8I,   [COLLET_I32] = CUDA_R_32I,
        [COLLET_C64] = CUDA_C_32F,   [COLLET_C128] = CUDA_C_64F};
    p->to = types[to];
    p->from = types[from];
    p->compute = part_of(to) == COLLET_F64 ? CUBLAS_COMPUTE_64F
                 : to == COLLET_I32        ? CUBLAS_COMPUTE_32I
                                           : CUBLAS_COMPUTE_32F;
}

static int is_aligned4(const layout *m)
{
    return m->address % 4 == 0 && m->leading % 4 == 0 && m->step % 4 == 0;
}

/* For i8, cuBLAS requires that addresses and leading dimensions are multiples of 4; sums that overflow i32 are
 * undefined. */
static int supports_type(const product *p)
{
    return p->compute != CUBLAS_COMPUTE_32I || (p->inner <= EXACT_INNER_MAX && is_aligned4(&p->a) &&
                                                is_aligned4(&p->b) && p->c.leading % 4 == 0);
}

/* 1 if cuBLAS supports the call. */
static int describe(product *p, const collet_kernel_call *call)
{
    const collet_operand *c = operand_of(call, 0), *a = operand_of(call, 1);
    int64_t rows = c->shape[c->ndim - 2], columns = c->shape[c->ndim - 1];
    int64_t inner = a->shape[a->ndim - 1];
    jit_batch v;
    int64_t count = jit_batch_begin(&v, c, c->ndim - 2);
    for (uint32_t k = 0; k < 3; k++)
        jit_batch_operand(&v, k, operand_of(call, k));
    p->choice.usual = WAY_LIBRARY;
    p->choice.key = ways_product(ways_type(a->dtype), count, rows, columns, inner, &p->choice.side);
    if (rows > INT_MAX || columns > INT_MAX || inner > INT_MAX || count > INT_MAX || count < 1 ||
        inner < 1 || rows * columns < MIN_ELEMENTS)
        return 0;
    p->rows = (int)rows;
    p->columns = (int)columns;
    p->inner = (int)inner;
    p->count = (int)count;
    choose_types(p, c->dtype, a->dtype);
    return lay_out(&p->c, &v, 0, c, rows, columns) && p->c.operation == CUBLAS_OP_N &&
           lay_out(&p->a, &v, 1, a, rows, inner) &&
           lay_out(&p->b, &v, 2, operand_of(call, 2), inner, columns) && supports_type(p);
}

/* The queue's cuBLAS handle, created on first use; NULL on failure. The caller holds the queue's lock and is in the
 * device's context. */
static cublasHandle_t handle_of(collet_device *d, collet_queue *q)
{
    const cuda_blas *blas = &d->blas;
    cublasHandle_t handle;
    if (q->blas)
        return q->blas;
    if (blas->Create(&handle) != CUBLAS_STATUS_SUCCESS)
        return NULL;
    /* Requires that partial sums are also added in f32. */
    if (blas->SetStream(handle, q->handle) != CUBLAS_STATUS_SUCCESS ||
        blas->SetMathMode(handle,
                          CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) !=
            CUBLAS_STATUS_SUCCESS) {
        blas->Destroy(handle);
        return NULL;
    }
    q->blas = handle;
    return handle;
}

/* Row-major c = a b is column-major c^T = b^T a^T. */
static cublasStatus_t multiply(const cuda_blas *blas, cublasHandle_t handle, const product *p)
{
    /* For complex types, cuBLAS reads two numbers: the real and the imaginary part. */
    static const double one_f64[] = {1.0, 0.0}, zero_f64[] = {0.0, 0.0};
    static const float one_f32[] = {1.0f, 0.0f}, zero_f32[] = {0.0f, 0.0f};
    static const int32_t one_i32 = 1, zero_i32 = 0;
    const void *one = p->compute == CUBLAS_COMPUTE_64F   ? (const void *)one_f64
                      : p->compute == CUBLAS_COMPUTE_32I ? (const void *)&one_i32
                                                         : (const void *)one_f32;
    const void *zero = p->compute == CUBLAS_COMPUTE_64F   ? (const void *)zero_f64
                       : p->compute == CUBLAS_COMPUTE_32I ? (const void *)&zero_i32
                                                          : (const void *)zero_f32;
    return blas->GemmStridedBatchedEx(
        handle, p->b.operation, p->a.operation, p->columns, p->rows, p->inner, one,
        (const void *)(uintptr_t)p->b.address, p->from, p->b.leading, p->b.step,
        (const void *)(uintptr_t)p->a.address, p->from, p->a.leading, p->a.step, zero,
        (void *)(uintptr_t)p->c.address, p->to, p->c.leading, p->c.step, p->count, p->compute,
        CUBLAS_GEMM_DEFAULT);
}

typedef struct attempt {
    collet_device *device;
    collet_queue *queue;
    const product *product;
} attempt;

static int try_multiply(void *context, int *code)
{
    const attempt *t = context;
    cublasHandle_t handle = handle_of(t->device, t->queue);
    if (!handle)
        return CUDA_LIBRARY_NO;
    cublasStatus_t result = multiply(&t->device->blas, handle, t->product);
    *code = (int)result;
    if (result == CUBLAS_STATUS_SUCCESS)
        return CUDA_LIBRARY_DONE;
    return result == CUBLAS_STATUS_NOT_SUPPORTED || result == CUBLAS_STATUS_INVALID_VALUE ||
                   result == CUBLAS_STATUS_ALLOC_FAILED || result == CUBLAS_STATUS_ARCH_MISMATCH
               ? CUDA_LIBRARY_NO
               : CUDA_LIBRARY_BROKEN;
}

static int is_ready(collet_device *d)
{
    return cuda_library_ready(d->base.host, d->cu.version, &cuda_blas_facts, &d->blas.library);
}

/* Uses cuBLAS if it is installed, is chosen (ways.h) and supports the operands' layout; else calls jit_matmul. */
jit_run cuda_matmul;
collet_status cuda_matmul(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    cuda_library_use use = {
        .device = d, .queue = q, .label = "cublasGemmStridedBatchedEx", .err = call->err};
    product p;
    attempt t = {d, q, &p};
    if (!describe(&p, call) || !cuda_library_chosen(d, &p.choice) || !is_ready(d))
        return jit_matmul(d, q, call);
    collet_status status = cuda_library_call(&use, try_multiply, &t);
    return status == COLLET_REFUSED ? jit_matmul(d, q, call) : status;
}

void cuda_explain_matmul(collet_device *d, const collet_kernel_call *call, text *out)
{
    product p;
    int possible = describe(&p, call);
    int ready = possible && cuda_library_chosen(d, &p.choice) && is_ready(d);
    cuda_explain_choice(out, d, &cuda_blas_facts, &d->blas.library, &p.choice, possible, ready);
}
