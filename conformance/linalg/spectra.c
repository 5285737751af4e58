/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linalg: svd and eigh, judged by residual, orthogonality and order; small matrices also by the
 * values of Jacobi's method in long double. As in LAPACK's tests (LAPACK Working Note 41), the
 * residual is divided by extent * u * the matrix's norm, and the departure from orthogonality by
 * extent * u. LAPACK accepts quotients below 30.
 * Tests: tests/conformance/test_broken.c
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "matrices.h"

#define BIT(kind) (1u << (kind))

/* The values are compared, too, if a matrix has at most this many rows and columns together. */
#define SMALL 26

/* a_ij *= s_j, s real. */
static void scale_columns(kit_matrix *a, const kit_matrix *s)
{
    int64_t parts = s->rows ? a->columns / s->rows : 1;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->columns; j++)
            *kit_entry(a, i, j) *= s->at[j / parts];
}

static void judge_order(kit_verdict *v, const kit_matrix *s, bool descending, int64_t batch)
{
    for (int64_t i = 0; i + 1 < s->rows; i++)
        if (!(descending ? s->at[i] >= s->at[i + 1] : s->at[i] <= s->at[i + 1]))
            kit_fail(v, "matrix %" PRId64 ": values %" PRId64 " and %" PRId64 " are not %s", batch,
                     i, i + 1, descending ? "descending" : "ascending");
}

/* |got - ideal| relative to the matrix's norm `size`, maximum over the values. */
static void judge_values(const kit_case *c, kit_verdict *v, const kit_matrix *got,
                         const real *ideal, real size, real extent, int64_t batch)
{
    real worst = 0, floor = extent * extent * kit_smallest(c, c->row->info.n_out);
    for (int64_t i = 0; i < got->rows; i++) {
        real error = fabsl(got->at[i] - ideal[i]);
        if (!(error <= floor))
            worst = fmaxl(worst, isnan(error) ? (real)INFINITY : error / size);
    }
    kit_measure(c, v, "values", batch, worst, extent, 0);
}

/* ---- svd --------------------------------------------------------------------------------------
 */

static void plan_svd(kit_plan *plan)
{
    kit_plan_matrices(plan, false, BIT(KIT_KINDS) - 1);
}

static void generate_svd(kit_case *c, kit_rng *rng)
{
    kit_generate_matrices(c, 4, (kit_kind)c->kind, rng);
}

/* The singular values are the largest eigenvalues of ((0, A), (A^T, 0)). */
static void judge_singular_values(const kit_case *c, kit_verdict *v, const kit_matrix *a,
                                  const kit_matrix *s, int64_t batch)
{
    int64_t m = a->rows, both = a->rows + a->columns;
    kit_local twice = kit_matrix_zero(both, both);
    real *values = kit_memory((size_t)both * sizeof *values);
    real *ideal = kit_memory((size_t)s->rows * sizeof *ideal);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < a->columns; j++)
            *kit_entry(&twice, i, m + j) = *kit_entry(&twice, m + j, i) = *kit_entry(a, i, j);
    kit_eigenvalues(&twice, values);
    for (int64_t i = 0; i < s->rows; i++)
        ideal[i] = values[both - 1 - i * kit_matrix_parts(c)];
    judge_values(c, v, s, ideal, kit_size(a), (real)(both / kit_matrix_parts(c)), batch);
    free(values);
    free(ideal);
}

static void judge_factors(const kit_case *c, kit_verdict *v, const kit_matrix *a, kit_matrix *u,
                          const kit_matrix *s, const kit_matrix *vt, int64_t batch)
{
    kit_local right = kit_transposed(vt);
    int64_t larger = a->rows > a->columns ? a->rows : a->columns;
    real extent = (real)(larger / kit_matrix_parts(c)), size = kit_size(a);
    real floor = extent * extent * kit_smallest(c, 4);
    kit_measure(c, v, "orthogonality", batch, kit_departure(u), extent, 0);
    kit_measure(c, v, "orthogonality", batch, kit_departure(&right), extent, 0);
    scale_columns(u, s);
    kit_local product = kit_product(u, vt);
    kit_measure(c, v, "residual", batch, kit_distance(a, &product), extent * size, floor);
    judge_order(v, s, true, batch);
    if (s->rows > 0 && !(s->at[s->rows - 1] >= 0))
        kit_fail(v, "matrix %" PRId64 ": a singular value is negative", batch);
    if (a->rows + a->columns <= SMALL)
        judge_singular_values(c, v, a, s, batch);
}

static void judge_one_svd(const kit_case *c, kit_verdict *v, int64_t batch)
{
    kit_local a = kit_matrix_of(c, 4, 2, 2, batch), u = kit_matrix_of(c, 0, 2, 2, batch);
    kit_local s = kit_matrix_of(c, 1, 1, 2, batch), vt = kit_matrix_of(c, 2, 2, 2, batch);
    bool finite = kit_finite(&a);
    kit_info_is(c, v, 3, batch, !finite);
    if (finite) {
        judge_factors(c, v, &a, &u, &s, &vt, batch);
    } else {
        kit_all_nan(c, v, 0, 2, batch);
        kit_all_nan(c, v, 1, 1, batch);
        kit_all_nan(c, v, 2, 2, batch);
    }
}

static void judge_svd(const kit_case *c, kit_verdict *v)
{
    for (int64_t batch = 0; batch < kit_matrix_count(c, 2); batch++)
        judge_one_svd(c, v, batch);
}

/* ---- eigh -------------------------------------------------------------------------------------
 */

#define SPLIT KIT_KINDS

static void plan_eigh(kit_plan *plan)
{
    kit_plan_matrices(plan, true, BIT(KIT_KINDS) - 1);
    kit_case c = kit_case_of(plan);
    kit_bind(&c, "MN", (const int64_t[]){5, 5}, 1, (const int64_t[]){64}, 0);
    c.kind = SPLIT;
    c.data = "splits into blocks";
    kit_emit(plan, &c);
}

/* A tridiagonal matrix. A QL step that begins at the first row is shifted by 1. The block of rows 2
 * and 3 has the eigenvalue 1 up to rounding. In some of the matrices this eigenvalue is exactly 1. Then the rotation
 * into row 1 yields 0, and the adjacent element, the smallest f64, is lost. */
static void put_split_matrix(kit_tensor *t, int64_t first, double coupling)
{
    const double diagonal[5] = {1, 0, 0, 1 - coupling * coupling, 7};
    const double below[4] = {1e-10, 0x1p-1074, coupling, 0};
    int64_t parts = kit_parts(t) / t->count;
    for (int64_t i = 0; i < 25 * parts; i++)
        kit_set(t, first * parts + i, i % (6 * parts) ? 0 : diagonal[i / parts / 6]);
    for (int64_t i = 0; i < 4; i++)
        kit_set(t, (first + 6 * i + 5) * parts, below[i]);
}

static void generate_eigh(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[3];
    if (c->kind != SPLIT)
        kit_generate_symmetric(c, 3, (kit_kind)c->kind, false, rng);
    for (int64_t at = 0; at < t->count && c->kind == SPLIT; at += 25)
        put_split_matrix(t, at, 2 + (double)kit_below(rng, 160) / 16);
}

static void judge_one_eigh(const kit_case *c, kit_verdict *v, int64_t batch)
{
    kit_local a = kit_matrix_of(c, 3, 2, 1, batch), values = kit_matrix_of(c, 0, 1, 1, batch);
    kit_local vectors = kit_matrix_of(c, 1, 2, 1, batch);
    int64_t parts = kit_matrix_parts(c);
    real extent = (real)(a.rows / parts), floor = extent * extent * kit_smallest(c, 3);
    kit_mirror(&a, parts);
    bool finite = kit_finite(&a);
    kit_info_is(c, v, 2, batch, !finite);
    if (finite) {
        real size = kit_size(&a), *ideal = kit_memory((size_t)a.rows * sizeof *ideal);
        kit_local product = kit_product(&a, &vectors);
        kit_measure(c, v, "orthogonality", batch, kit_departure(&vectors), extent, 0);
        scale_columns(&vectors, &values);
        kit_measure(c, v, "residual", batch, kit_distance(&product, &vectors), extent * size,
                    floor);
        judge_order(v, &values, false, batch);
        if (2 * a.rows <= SMALL) {
            kit_eigenvalues(&a, ideal);
            for (int64_t i = 0; i < values.rows; i++)
                ideal[i] = ideal[parts * i];
            judge_values(c, v, &values, ideal, size, extent, batch);
        }
        free(ideal);
    } else {
        kit_all_nan(c, v, 0, 1, batch);
        kit_all_nan(c, v, 1, 2, batch);
    }
}

static void judge_eigh(const kit_case *c, kit_verdict *v)
{
    for (int64_t batch = 0; batch < kit_matrix_count(c, 1); batch++)
        judge_one_eigh(c, v, batch);
}

const kit_op kit_spectra_ops[] = {
    {COLLET_OP_SVD, plan_svd, generate_svd, judge_svd},
    {COLLET_OP_EIGH, plan_eigh, generate_eigh, judge_eigh},
    {0},
};
