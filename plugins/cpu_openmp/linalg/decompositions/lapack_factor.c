/* SPDX-License-Identifier: Apache-2.0 */
/* LU by halves of the columns (S. Toledo, SIAM J. Matrix Anal. Appl. 18, 1065, 1997) on row-major matrices. LAPACK's
 * own LU needs column-major matrices, and its threads would compete with ours for processors.
 * Tests: conformance/linalg/factors.c, tests/host/test_decompositions.c */
#include "cpu_openmp/runtime/team.h"
#include "cpu_openmp/util/real.h"
#include "shared/host/linalg/matrices.h"
#include "kernel_panel.h"
#include "lapack.h"

/* Minimum number of elements per thread that are only moved. */
#define GRAIN_ELEMENTS (4 << 10)

static char *element(const lapack_factors *f, int64_t i, int64_t j)
{
    return f->a.at + i * f->a.row + j * f->job->size;
}

static blas_matrix block(const lapack_factors *f, int64_t i, int64_t j)
{
    return (blas_matrix){.at = element(f, i, j), .stride = dense_stride(&f->a)};
}

/* Exchanges rows; each thread applies all exchanges, in order, to some columns. */
typedef struct exchanging {
    const lapack_factors *f;
    int64_t first, last;
    const dense_view *x;
} exchanging;

static TEAM_BODY(exchange_columns)
{
    const exchanging *e = argument;
    const lapack_factors *f = e->f;
    void (*swap)(void *, void *, int64_t) = f->job->device->level->panel->swap[f->job->wide];
    char *at = e->x->at + begin * f->job->size;
    for (int64_t k = e->first; k < e->last; k++) {
        if (f->pivot[k] != k)
            swap(at + k * e->x->row, at + f->pivot[k] * e->x->row, (end - begin) * f->job->parts);
    }
}

void lapack_exchange(const lapack_factors *f, int64_t first, int64_t last, const dense_view *x)
{
    exchanging e = {.f = f, .first = first, .last = last, .x = x};
    team_run(f->job->threads, x->columns, GRAIN_ELEMENTS / (last - first + 1) + 1, exchange_columns,
             &e);
}

/* Exchanges rows in `count` columns of the matrix itself, from `column` on. */
static void exchange(const lapack_factors *f, int64_t first, int64_t last, int64_t column,
                     int64_t count)
{
    dense_view part = f->a;
    part.at = element(f, 0, column);
    part.columns = count;
    lapack_exchange(f, first, last, &part);
}

static void factor_panel(const lapack_factors *f, int64_t first, int64_t columns)
{
    int64_t rows = f->a.rows - first;
    dense_view part = {.at = element(f, first, first),
                       .rows = rows,
                       .columns = columns,
                       .row = f->a.row,
                       .column = f->job->size,
                       .dtype = f->a.dtype};
    dense_view panel = dense_transposed(dense_at(f->panel, f->a.dtype, columns, rows));
    dense_copy(f->job->device, 1, &panel, &part);
    f->job->device->level->panel->lu[f->job->wide](f->panel, rows, rows, columns, f->pivot + first);
    dense_copy(f->job->device, 1, &part, &panel);
    for (int64_t k = first; k < first + columns; k++)
        f->pivot[k] += (int32_t)first;
}

/* Factors `columns` columns from `first` on, from row `first` down; there are at least as many rows. */
static void factor_columns(const lapack_factors *f, int64_t first, int64_t columns)
{
    if (columns <= LAPACK_PANEL) {
        factor_panel(f, first, columns);
        return;
    }
    int64_t left = (columns / 2 + LAPACK_PANEL - 1) / LAPACK_PANEL * LAPACK_PANEL;
    int64_t right = columns - left, middle = first + left;
    blas_matrix top = block(f, first, first), adjacent = block(f, first, middle);
    blas_matrix under = block(f, middle, first), rest = block(f, middle, middle);
    factor_columns(f, first, left);
    exchange(f, first, middle, middle, right);
    lapack_solve_triangle(f->job, BLAS_UNIT_LOWER, &top, &adjacent, left, right);
    lapack_multiply(f->job, &rest, &under, &adjacent, f->a.rows - middle, right, left, -1, 1);
    factor_columns(f, middle, right);
    exchange(f, middle, middle + right, first, left);
}

static int64_t steps_of(const lapack_factors *f)
{
    return f->a.rows < f->a.columns ? f->a.rows : f->a.columns;
}

static void factor_complex(const lapack_factors *f)
{
    dense_view columns = dense_transposed(dense_at(f->panel, f->a.dtype, f->a.columns, f->a.rows));
    int m = (int)f->a.rows, n = (int)f->a.columns, info;
    dense_copy(f->job->device, f->job->threads, &columns, &f->a);
    f->job->lapack->getrf(&m, &n, f->panel, &m, f->pivot, &info);
    dense_copy(f->job->device, f->job->threads, &f->a, &columns);
    for (int64_t k = 0; k < steps_of(f); k++)
        f->pivot[k]--;
}

int64_t lapack_panel_columns(const collet_operand *a)
{
    return part_of(a->dtype) == a->dtype ? LAPACK_PANEL : operand_extent(a, 0);
}

int32_t lapack_factor_threads(const lapack_job *job)
{
    return job->parts == 1 ? 1 : job->threads;
}

void lapack_factor(const lapack_factors *f)
{
    if (f->job->parts == 2) {
        factor_complex(f);
        return;
    }
    int64_t steps = steps_of(f), rest = f->a.columns - steps;
    factor_columns(f, 0, steps);
    if (rest > 0) {
        blas_matrix top = block(f, 0, 0), adjacent = block(f, 0, steps);
        exchange(f, 0, steps, steps, rest);
        lapack_solve_triangle(f->job, BLAS_UNIT_LOWER, &top, &adjacent, steps, rest);
    }
}

int64_t lapack_zero_pivot(const lapack_factors *f)
{
    int64_t steps = steps_of(f);
    for (int64_t k = 0; k < steps; k++) {
        const char *pivot = element(f, k, k);
        if (real_load(pivot, f->job->wide) == 0.0 &&
            real_load(pivot + f->job->size / f->job->parts * (f->job->parts - 1), f->job->wide) ==
                0.0)
            return k + 1;
    }
    return 0;
}
