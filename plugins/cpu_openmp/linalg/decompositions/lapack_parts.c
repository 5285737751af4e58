/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products and triangular systems on the team's threads by single-threaded calls of OpenBLAS. Its own threads would
 * wait for threads that the operating system has not scheduled.
 * Tests: conformance/linalg/factors.c, tests/host/test_decompositions.c
 */
#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "lapack.h"

/* Minimum number of multiply-adds per thread; minimum number of rows or columns per piece, because OpenBLAS packs the
 * other factor again for each piece. */
#define GRAIN_PRODUCTS (1 << 19)
#define GRAIN_LINES 384

typedef struct parts {
    const lapack_job *job;
    blas_matrix c, left, right;
    int64_t m, n, k;
    int factor, keep, by_rows;
    blas_triangle triangle;
} parts;

static blas_matrix moved(const parts *p, const blas_matrix *x, int64_t rows, int64_t columns)
{
    int64_t steps = x->transposed ? columns * x->stride + rows : rows * x->stride + columns;
    return (blas_matrix){.at = (char *)x->at + steps * p->job->size,
                         .stride = x->stride,
                         .transposed = x->transposed};
}

static void run(parts *p, int64_t count, int64_t products, team_body body)
{
    int64_t grain = products > 0 ? GRAIN_PRODUCTS / products + 1 : count;
    int64_t piece = min_i64(count / p->job->threads, GRAIN_LINES);
    team_run(p->job->threads, count, grain > piece ? grain : piece, body, p);
}

/* ---- Products -------------------------------------------------------------------------------- */

static TEAM_BODY(multiply)
{
    const parts *p = argument;
    int64_t rows = p->by_rows ? begin : 0, columns = p->by_rows ? 0 : begin, count = end - begin;
    blas_matrix c = moved(p, &p->c, rows, columns), left = moved(p, &p->left, rows, 0);
    blas_matrix right = moved(p, &p->right, 0, columns);
    blas_multiply(p->job->library, p->job->type, &c, &left, &right, p->by_rows ? count : p->m,
                  p->by_rows ? p->n : count, p->k, p->factor, p->keep);
}

void lapack_multiply(const lapack_job *job, const blas_matrix *c, const blas_matrix *left,
                     const blas_matrix *right, int64_t m, int64_t n, int64_t k, int factor,
                     int keep)
{
    parts p = {.job = job,
               .c = *c,
               .left = *left,
               .right = *right,
               .m = m,
               .n = n,
               .k = k,
               .factor = factor,
               .keep = keep,
               .by_rows = m >= n};
    run(&p, p.by_rows ? m : n, (p.by_rows ? n : m) * k, multiply);
}

/* Updates rows begin .. end-1 of a lower triangle: the square on the diagonal, and the rectangle left of it. */
static TEAM_BODY(subtract_square)
{
    const parts *p = argument;
    blas_matrix rows = moved(p, &p->left, begin, 0), transpose = p->left;
    blas_matrix adjacent = moved(p, &p->c, begin, 0), square = moved(p, &p->c, begin, begin);
    transpose.transposed = transpose.transposed ? 0 : TRANSPOSED_CONJUGATE;
    if (begin > 0)
        blas_multiply(p->job->library, p->job->type, &adjacent, &rows, &transpose, end - begin,
                      begin, p->k, -1, 1);
    blas_square(p->job->library, p->job->type, &square, &rows, end - begin, p->k, -1, 1);
}

/* Computes the parts of the triangle, two per thread: the first rows are short, the last rows long. */
static TEAM_BODY(subtract_parts)
{
    const parts *p = argument;
    int64_t halves = 2 * p->m;
    for (int64_t i = begin; i < end; i++) {
        int64_t slices[2] = {i, halves - 1 - i};
        for (int s = 0; s < 2; s++)
            subtract_square(argument, thread, slices[s] * p->n / halves,
                            (slices[s] + 1) * p->n / halves);
    }
}

void lapack_subtract_square(const lapack_job *job, const blas_matrix *c, const blas_matrix *a,
                            int64_t n, int64_t k)
{
    parts p = {.job = job, .c = *c, .left = *a, .m = job->threads, .n = n, .k = k};
    if (job->threads == 1 || n * n / 2 * k < 2 * GRAIN_PRODUCTS)
        blas_square(job->library, job->type, c, a, n, k, -1, 1);
    else
        team_run(job->threads, p.m, 1, subtract_parts, &p);
}

/* ---- Triangular systems ---------------------------------------------------------------------- */

/* Solves for columns begin .. end-1 of x. If the triangle is on the right, solves for rows begin .. end-1. */
static TEAM_BODY(solve)
{
    const parts *p = argument;
    blas_matrix x = moved(p, &p->c, p->by_rows ? begin : 0, p->by_rows ? 0 : begin);
    blas_solve(p->job->library, p->job->type, p->triangle, &p->left, &x,
               p->by_rows ? end - begin : p->m, p->by_rows ? p->n : end - begin);
}

void lapack_solve_triangle(const lapack_job *job, blas_triangle which, const blas_matrix *a,
                           const blas_matrix *x, int64_t m, int64_t n)
{
    int by_rows = which == BLAS_LOWER_RIGHT;
    int64_t order = by_rows ? n : m;
    parts p = {
        .job = job, .c = *x, .left = *a, .m = m, .n = n, .triangle = which, .by_rows = by_rows};
    run(&p, by_rows ? m : n, order * order / 2, solve);
}
