/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linalg: eig, judged by its residual A V - V diag(w), the lengths of the vectors, and the traces of
 * A and A^2, which are the sums of all eigenvalues and of their squares. Without the traces, one pair could be
 * returned n times.
 * Tests: tests/conformance/test_broken.c */
#include <math.h>

#include "matrices.h"

static void plan_eig(kit_plan *plan)
{
    kit_plan_matrices(plan, true, (1u << KIT_KINDS) - 1);
}

static void generate_eig(kit_case *c, kit_rng *rng)
{
    kit_generate_matrices(c, 3, (kit_kind)c->kind, rng);
}

/* A real matrix in the representation of complex matrices (matrices.h). For a complex matrix: a copy. */
static kit_matrix complex_of(const kit_matrix *a, int64_t parts)
{
    kit_matrix b = kit_matrix_zero(2 / parts * a->rows, 2 / parts * a->columns);
    for (int64_t i = 0; i < b.rows; i++)
        for (int64_t j = 0; j < b.columns; j++)
            if (parts == 2 || i % 2 == j % 2)
                *kit_entry(&b, i, j) = *kit_entry(a, i * parts / 2, j * parts / 2);
    return b;
}

/* The diagonal matrix of a complex vector. */
static kit_matrix diagonal_of(const kit_matrix *w)
{
    kit_matrix d = kit_matrix_zero(w->rows, w->rows);
    for (int64_t i = 0; i < w->rows; i++)
        for (int64_t j = 0; j < 2; j++)
            *kit_entry(&d, i, i / 2 * 2 + j) = *kit_entry(w, i, j);
    return d;
}

/* |tr a - tr b|, both complex. */
static real trace_distance(const kit_matrix *a, const kit_matrix *b)
{
    real sum[2] = {0};
    for (int64_t i = 0; i < a->rows; i += 2)
        for (int64_t part = 0; part < 2; part++)
            sum[part] += *kit_entry(a, i + part, i) - *kit_entry(b, i + part, i);
    return hypotl(sum[0], sum[1]);
}

static real worst_length(const kit_matrix *v)
{
    real worst = 0;
    for (int64_t j = 0; j < v->columns; j += 2) {
        real length = 0;
        for (int64_t i = 0; i < v->rows; i++)
            length = hypotl(length, *kit_entry(v, i, j));
        worst = fmaxl(worst, isnan(length) ? (real)INFINITY : fabsl(length - 1));
    }
    return worst;
}

/* Counts violations of the order of a real matrix's eigenvalues. The eigenvalues must be real, or in pairs of
 * conjugates with the positive imaginary part first. The vectors of a pair must be conjugates, and the vector of a
 * real value must be real. */
static real unpaired(const kit_matrix *w, const kit_matrix *v)
{
    real count = 0;
    for (int64_t i = 0; i < w->rows; i += 2) {
        int64_t k = *kit_entry(w, i + 1, 0) > 0 && i + 2 < w->rows ? i + 2 : i;
        count += *kit_entry(w, k, 0) != *kit_entry(w, i, 0);
        count += *kit_entry(w, k + 1, 0) != -*kit_entry(w, i + 1, 0);
        for (int64_t j = 0; j < v->rows; j += 2) {
            count += *kit_entry(v, j, k) != *kit_entry(v, j, i);
            count += *kit_entry(v, j + 1, k) != -*kit_entry(v, j + 1, i);
        }
        i = k;
    }
    return count;
}

static void judge_one_eig(const kit_case *c, kit_verdict *v, int64_t batch)
{
    kit_local read = kit_matrix_of(c, 3, 2, 1, batch), w = kit_matrix_of(c, 0, 1, 1, batch);
    kit_local a = complex_of(&read, kit_matrix_parts(c)), d = diagonal_of(&w);
    kit_local vectors = kit_matrix_of(c, 1, 2, 1, batch);
    bool finite = kit_finite(&a);
    kit_info_is(c, v, 2, batch, !finite);
    if (!finite) {
        kit_all_nan(c, v, 0, 1, batch);
        kit_all_nan(c, v, 1, 2, batch);
        return;
    }
    if (kit_matrix_parts(c) == 1)
        kit_measure(c, v, "pairs", batch, unpaired(&w, &vectors), 1, 0);
    real n = (real)(a.rows / 2), size = kit_size(&a), floor = n * n * kit_smallest(c, 3);
    kit_local product = kit_product(&a, &vectors), scaled = kit_product(&vectors, &d);
    kit_local square = kit_product(&a, &a), squares = kit_product(&d, &d);
    kit_measure(c, v, "residual", batch, kit_distance(&product, &scaled), n * size, floor);
    kit_measure(c, v, "length", batch, worst_length(&vectors), n, 0);
    kit_measure(c, v, "trace", batch, trace_distance(&a, &d), n * sqrtl(n) * size, n * floor);
    kit_measure(c, v, "square", batch, trace_distance(&square, &squares), n * size * size,
                n * floor * (size + floor));
}

static void judge_eig(const kit_case *c, kit_verdict *v)
{
    for (int64_t batch = 0; batch < kit_matrix_count(c, 1); batch++)
        judge_one_eig(c, v, batch);
}

const kit_op kit_eigen_ops[] = {
    {COLLET_OP_EIG, plan_eig, generate_eig, judge_eig},
    {0},
};
