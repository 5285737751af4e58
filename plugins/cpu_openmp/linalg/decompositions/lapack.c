/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, tests/host/test_decompositions.c */
#include "lapack.h"

#include <limits.h>
#include <math.h>

#include "shared/host/linalg/matrices.h"

/* LAPACK counts its scratch in an int. gesdd needs the most: 4 k^2 + 7 k + 64 (m + n) numbers, and for complex
 * matrices 5 k^2 + 5 k and 2 k (m + n) + k. */
static int counts_fit(int64_t m, int64_t n, int parts)
{
    int64_t k = m < n ? m : n;
    return m <= INT_MAX / 256 && n <= INT_MAX / 256 && k <= 20000 &&
           (parts == 1 || 2 * k * (m + n + 1) <= INT_MAX);
}

int lapack_takes(const collet_kernel_call *call)
{
    const collet_operand *a = operand_of(call, call->n_out);
    const collet_operand *last = operand_of(call, call->n_out + call->n_in - 1);
    return counts_fit(operand_extent(a, 1), operand_extent(a, 0),
                      part_of(a->dtype) == a->dtype ? 1 : 2) &&
           operand_extent(last, 0) <= INT_MAX;
}

void lapack_enter(const lapack_job *job, blas_use *use, int32_t threads)
{
    if (job->threads > 1)
        (void)blas_enter(job->library, use, threads);
}

void lapack_leave(const lapack_job *job, blas_use *use)
{
    if (job->threads > 1)
        blas_leave(job->library, use);
}

int lapack_is_regular(const lapack_job *job, double largest)
{
    double limit = job->wide ? 0x1p+400 : 0x1p+50;
    return !isnan(largest) && (largest == 0.0 || (largest < limit && largest > 1.0 / limit));
}

void *lapack_take(lapack_pieces *p, int64_t rows, int64_t columns, uint64_t size)
{
    uint64_t bytes, used = p->used;
    if (__builtin_mul_overflow((uint64_t)rows, (uint64_t)columns, &bytes) ||
        __builtin_mul_overflow(bytes, size, &bytes) || __builtin_add_overflow(bytes, 63, &bytes) ||
        __builtin_add_overflow(used, bytes & ~(uint64_t)63, &p->used)) {
        p->used = UINT64_MAX;
        return NULL;
    }
    return p->base ? p->base + used : NULL;
}
