/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, tests/host/test_decompositions.c */
#include <math.h>

#include "shared/host/linalg/decompositions.h"
#include "shared/host/linalg/matrices.h"
#include "lapack.h"

typedef struct solve_scratch {
    void *a, *b, *panel, *pivot;
} solve_scratch;

static solve_scratch solve_take(const collet_kernel_call *call, lapack_pieces *p)
{
    const collet_operand *b = operand_of(call, 3);
    int64_t n = operand_extent(b, 1);
    uint64_t size = cpu_dtype_size(b->dtype);
    solve_scratch r;
    r.a = lapack_take(p, n, n, size);
    r.b = lapack_take(p, n, operand_extent(b, 0), size);
    r.panel = lapack_take(p, n, lapack_panel_columns(operand_of(call, 2)), size);
    r.pivot = lapack_take(p, n, 1, sizeof(int32_t));
    return r;
}

void lapack_solve_scratch(const collet_kernel_call *call, lapack_pieces *p)
{
    (void)solve_take(call, p);
}

typedef enum state { FACTORED, SINGULAR, IRREGULAR } state;

static lapack_factors factors_of(const lapack_job *job, const solve_scratch *r)
{
    const collet_operand *a = operand_of(job->call, 2);
    return (lapack_factors){
        .job = job,
        .a = dense_at(r->a, a->dtype, operand_extent(a, 1), operand_extent(a, 0)),
        .pivot = r->pivot,
        .panel = r->panel};
}

static state factor(const lapack_job *job, int64_t index, const solve_scratch *r)
{
    dense_view a = dense_of(operand_of(job->call, 2), index);
    lapack_factors f = factors_of(job, r);
    blas_use use;
    if (!lapack_is_regular(job, dense_load(job->device, job->threads, &f.a, &a, 0)))
        return IRREGULAR;
    lapack_enter(job, &use, lapack_factor_threads(job));
    lapack_factor(&f);
    lapack_leave(job, &use);
    return lapack_zero_pivot(&f) == 0 ? FACTORED : SINGULAR;
}

static blas_matrix rows_of(const dense_view *v)
{
    return (blas_matrix){.at = v->at, .stride = dense_stride(v)};
}

/* Returns 0 without a result if lapack_is_regular rejects the right sides. */
static int solve_one(const lapack_job *job, int64_t index, const solve_scratch *r)
{
    dense_view b = dense_of(operand_of(job->call, 3), index);
    dense_view x = dense_of(operand_of(job->call, 0), index);
    dense_view rows = dense_at(r->b, b.dtype, b.rows, b.columns);
    lapack_factors f = factors_of(job, r);
    blas_matrix triangles = rows_of(&f.a), sides = rows_of(&rows);
    blas_use use;
    if (!lapack_is_regular(job, dense_load(job->device, job->threads, &rows, &b, 0)))
        return 0;
    lapack_enter(job, &use, 1);
    lapack_exchange(&f, 0, b.rows, &rows);
    lapack_solve_triangle(job, BLAS_UNIT_LOWER, &triangles, &sides, b.rows, b.columns);
    lapack_solve_triangle(job, BLAS_UPPER, &triangles, &sides, b.rows, b.columns);
    lapack_leave(job, &use);
    dense_copy(job->device, job->threads, &x, &rows);
    return 1;
}

int64_t lapack_solve(const lapack_job *job, void *scratch, int64_t begin, int64_t end)
{
    const collet_kernel_call *call = job->call;
    const collet_operand *x = operand_of(call, 0), *a = operand_of(call, 2);
    int64_t singular = end;
    lapack_pieces p = {.base = scratch};
    solve_scratch r = solve_take(call, &p);
    const char *held = NULL;
    state found = IRREGULAR;
    for (int64_t index = begin; index < end; index++) {
        /* A matrix that is broadcast over right sides is factored once. */
        const char *at = cpu_matrix_at(a, 2, index);
        if (at != held)
            found = factor(job, index, &r);
        held = at;
        if (found == SINGULAR) {
            singular = index < singular ? index : singular;
            cpu_matrix_fill(x, index, (double)NAN);
        } else if (found == IRREGULAR || !solve_one(job, index, &r)) {
            /* cpu_decomposition_run overwrites the factors in the scratch. */
            int64_t bad = cpu_decomposition_run(call, scratch, index, index + 1);
            singular = bad <= index && bad < singular ? bad : singular;
            held = NULL;
        }
    }
    return singular;
}
