/* SPDX-License-Identifier: Apache-2.0 */
/* QR of complex matrices by LAPACK, which leaves real numbers on R's diagonal.
 * Tests: conformance/linalg/factors.c */
#include "cpu_openmp/util/real.h"
#include "shared/host/linalg/decompositions.h"
#include "shared/host/linalg/matrices.h"
#include "shared/host/util/counts.h"
#include "lapack.h"

/* Columns of LAPACK's blocks. */
#define BLOCK 64

typedef struct qr_scratch {
    void *a, *tau, *work;
    int lwork;
} qr_scratch;

static qr_scratch qr_take(const collet_kernel_call *call, lapack_pieces *p)
{
    const collet_operand *a = operand_of(call, 2);
    int64_t m = operand_extent(a, 1), n = operand_extent(a, 0);
    uint64_t size = cpu_dtype_size(a->dtype);
    qr_scratch r = {.lwork = (int)(n * BLOCK)};
    r.a = lapack_take(p, m, n, size);
    r.tau = lapack_take(p, min_i64(m, n), 1, size);
    r.work = lapack_take(p, n, BLOCK, size);
    return r;
}

void lapack_qr_complex_scratch(const collet_kernel_call *call, lapack_pieces *p)
{
    (void)qr_take(call, p);
}

/* Factors the matrix in r->a, which is in column-major order. */
static void decompose(const lapack_job *job, const qr_scratch *r, const dense_view *a,
                      const dense_view *q, const dense_view *upper)
{
    int m = (int)a->rows, n = (int)a->columns, k = (int)q->columns, info;
    dense_view top = *a, left = *a;
    blas_use use;
    top.rows = left.columns = k;
    lapack_enter(job, &use, job->threads);
    job->lapack->geqrf(&m, &n, r->a, &m, r->tau, r->work, &r->lwork, &info);
    lapack_leave(job, &use);
    dense_copy(job->device, job->threads, upper, &top);
    dense_clear_below(upper);
    lapack_enter(job, &use, job->threads);
    job->lapack->ungqr(&m, &k, &k, r->a, &m, r->tau, r->work, &r->lwork, &info);
    lapack_leave(job, &use);
    dense_view columns = dense_transposed(left);
    for (int64_t i = 0; i < k; i++) {
        if (real_load(upper->at + i * (upper->row + upper->column), job->wide) >= 0.0)
            continue;
        dense_negate(job->device, upper, i, i);
        dense_negate(job->device, &columns, i, 0);
    }
    dense_copy(job->device, job->threads, q, &left);
}

void lapack_qr_complex(const lapack_job *job, void *scratch, int64_t begin, int64_t end)
{
    const collet_kernel_call *call = job->call;
    lapack_pieces p = {.base = scratch};
    qr_scratch r = qr_take(call, &p);
    for (int64_t index = begin; index < end; index++) {
        dense_view q = dense_of(operand_of(call, 0), index);
        dense_view upper = dense_of(operand_of(call, 1), index);
        dense_view in = dense_of(operand_of(call, 2), index);
        dense_view a = dense_transposed(dense_at(r.a, in.dtype, in.columns, in.rows));
        if (lapack_is_regular(job, dense_load(job->device, job->threads, &a, &in, 0)))
            decompose(job, &r, &a, &q, &upper);
        else
            (void)cpu_decomposition_run(call, scratch, index, index + 1);
    }
}
