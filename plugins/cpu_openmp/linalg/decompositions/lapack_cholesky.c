/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, tests/host/test_decompositions.c */
#include <math.h>

#include "shared/host/linalg/decompositions.h"
#include "shared/host/linalg/matrices.h"
#include "lapack.h"

/* Order of the largest matrix that LAPACK factors. */
#define BLOCK 64

void lapack_cholesky_scratch(const collet_kernel_call *call, lapack_pieces *p)
{
    int64_t n = operand_extent(operand_of(call, 2), 0);
    if (!dense_output(operand_of(call, 0), 0).at)
        (void)lapack_take(p, n, n, cpu_dtype_size(operand_of(call, 2)->dtype));
}

typedef struct factoring {
    const lapack_job *job;
    dense_view a;
    int stride;
} factoring;

static blas_matrix block(const factoring *f, int64_t i, int64_t j)
{
    return (blas_matrix){.at = f->a.at + i * f->a.row + j * f->a.column, .stride = f->stride};
}

/* Factors the n x n block whose first element is (first, first), by halves: LAPACK's own function is slow on row-major
 * matrices. Returns 0, or the order of the first leading minor that is not positive. */
static int64_t factor(const factoring *f, int64_t first, int64_t count)
{
    blas_matrix top = block(f, first, first);
    if (count <= BLOCK) {
        int n = (int)count, info;
        /* The lower triangle in row-major order is the upper triangle in column-major order. */
        f->job->lapack->potrf("U", &n, top.at, &f->stride, &info, 1);
        return info == 0 ? 0 : first + info;
    }
    int64_t half = (count / 2 + 15) / 16 * 16, rest = count - half, middle = first + half;
    blas_matrix adjacent = block(f, middle, first), last = block(f, middle, middle);
    int64_t bad = factor(f, first, half);
    if (bad)
        return bad;
    lapack_solve_triangle(f->job, BLAS_LOWER_RIGHT, &top, &adjacent, rest, half);
    lapack_subtract_square(f->job, &last, &adjacent, rest, half);
    return factor(f, middle, rest);
}

void lapack_cholesky(const lapack_job *job, void *scratch, int64_t begin, int64_t end)
{
    const collet_kernel_call *call = job->call;
    const collet_operand *lower = operand_of(call, 0);
    for (int64_t index = begin; index < end; index++) {
        dense_view in = dense_of(operand_of(call, 2), index), out = dense_of(lower, index);
        factoring f = {.job = job, .a = dense_output(lower, index)};
        blas_use use;
        if (!f.a.at)
            f.a = dense_at(scratch, in.dtype, in.rows, in.columns);
        f.stride = dense_stride(&f.a);
        if (!lapack_is_regular(job, dense_load(job->device, job->threads, &f.a, &in, 1))) {
            (void)cpu_decomposition_run(call, scratch, index, index + 1);
            continue;
        }
        lapack_enter(job, &use, 1);
        int64_t bad = factor(&f, 0, in.rows);
        lapack_leave(job, &use);
        cpu_info_store(operand_of(call, 1), index, bad);
        if (bad)
            cpu_matrix_fill(lower, index, (double)NAN);
        else if (f.a.at != out.at)
            dense_copy(job->device, job->threads, &out, &f.a);
    }
}
