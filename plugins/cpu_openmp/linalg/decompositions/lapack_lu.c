/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, tests/host/test_decompositions.c */
#include "cpu_openmp/array/kernels/kernel_move.h"
#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "shared/host/linalg/decompositions.h"
#include "shared/host/linalg/matrices.h"
#include "lapack.h"

/* Minimum number of elements per thread that are only moved. */
#define GRAIN_ELEMENTS (16 << 10)

/* Extracts L and U from the matrix that holds both; this matrix may be one of the outputs. */
typedef struct parting {
    const lapack_factors *f;
    dense_view lower, upper;
    int64_t steps;
} parting;

static TEAM_BODY(part_rows)
{
    const parting *p = argument;
    const lapack_factors *f = p->f;
    int64_t size = f->a.column;
    void (*move)(char *, int64_t, const char *, int64_t, int64_t) =
        f->job->device->level->move->row[__builtin_ctz((uint32_t)size)];
    const double one = 1.0;
    for (int64_t i = begin; i < end; i++) {
        const char *row = f->a.at + i * f->a.row;
        char *lower = p->lower.at + i * p->lower.row, *upper = p->upper.at + i * p->upper.row;
        int64_t left = min_i64(i, p->steps);
        if (lower != row)
            move(lower, p->lower.column, row, size, left);
        if (i >= p->steps)
            continue;
        if (upper != row)
            move(upper + i * p->upper.column, p->upper.column, row + i * size, size,
                 f->a.columns - i);
        cpu_convert(lower + i * p->lower.column, f->a.dtype, 0, (const char *)&one, COLLET_F64, 0,
                    1);
    }
}

static void part(const lapack_factors *f, const dense_view *lower, const dense_view *upper)
{
    parting p = {.f = f, .lower = *lower, .upper = *upper, .steps = upper->rows};
    team_run(f->job->threads, f->a.rows, GRAIN_ELEMENTS / (f->a.columns + 1) + 1, part_rows, &p);
    dense_clear_above(lower);
    dense_clear_below(upper);
}

/* Where matrix `index` is factored: in the output that has its shape, if BLAS supports that output. */
static dense_view place_of(const collet_kernel_call *call, int64_t index)
{
    const collet_operand *lower = operand_of(call, 1), *upper = operand_of(call, 2);
    return dense_output(operand_extent(lower, 1) >= operand_extent(upper, 0) ? lower : upper,
                        index);
}

typedef struct lu_scratch {
    void *panel, *pivot, *matrix;
} lu_scratch;

static lu_scratch lu_take(const collet_kernel_call *call, lapack_pieces *p)
{
    const collet_operand *a = operand_of(call, 4);
    int64_t m = operand_extent(a, 1), n = operand_extent(a, 0);
    uint64_t size = cpu_dtype_size(a->dtype);
    lu_scratch r;
    r.panel = lapack_take(p, m, lapack_panel_columns(a), size);
    r.pivot = lapack_take(p, min_i64(m, n), 1, sizeof(int32_t));
    r.matrix = place_of(call, 0).at ? NULL : lapack_take(p, m, n, size);
    return r;
}

void lapack_lu_scratch(const collet_kernel_call *call, lapack_pieces *p)
{
    (void)lu_take(call, p);
}

/* The permutation that results from the exchanges. */
static void store_perm(const collet_operand *o, int64_t index, const int32_t *pivot, int64_t steps)
{
    char *at = cpu_matrix_at(o, 1, index);
    int64_t step = cpu_step(o, o->ndim - 1);
    for (int64_t i = 0; i < operand_extent(o, 0); i++)
        *(int32_t *)(void *)(at + i * step) = (int32_t)i;
    for (int64_t k = 0; k < steps; k++) {
        int32_t *x = (int32_t *)(void *)(at + k * step);
        int32_t *y = (int32_t *)(void *)(at + pivot[k] * step), kept = *x;
        *x = *y;
        *y = kept;
    }
}

void lapack_lu(const lapack_job *job, void *scratch, int64_t begin, int64_t end)
{
    const collet_kernel_call *call = job->call;
    const collet_operand *perm = operand_of(call, 0), *info = operand_of(call, 3);
    lapack_pieces p = {.base = scratch};
    lu_scratch r = lu_take(call, &p);
    for (int64_t index = begin; index < end; index++) {
        dense_view a = dense_of(operand_of(call, 4), index), place = place_of(call, index);
        dense_view lower = dense_of(operand_of(call, 1), index);
        dense_view upper = dense_of(operand_of(call, 2), index);
        if (!place.at)
            place = dense_at(r.matrix, a.dtype, a.rows, a.columns);
        if (!lapack_is_regular(job, dense_load(job->device, job->threads, &place, &a, 0))) {
            (void)cpu_decomposition_run(call, scratch, index, index + 1);
            continue;
        }
        lapack_factors f = {.job = job, .a = place, .pivot = r.pivot, .panel = r.panel};
        blas_use use;
        lapack_enter(job, &use, lapack_factor_threads(job));
        lapack_factor(&f);
        lapack_leave(job, &use);
        store_perm(perm, index, r.pivot, upper.rows);
        cpu_info_store(info, index, lapack_zero_pivot(&f));
        part(&f, &lower, &upper);
    }
}
