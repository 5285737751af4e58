/* SPDX-License-Identifier: Apache-2.0 */
/* linalg: lu, cholesky, qr and solve, judged by the product of their factors. The bounds are from
 * Higham, Accuracy and Stability of Numerical Algorithms: theorems 9.3 (LU), 9.4 (solve), 10.3
 * (Cholesky) and 19.4 (QR).
 * Tests: tests/conformance/test_broken.c */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "matrices.h"

#define BIT(kind) (1u << (kind))

/* ---- lu ---------------------------------------------------------------------------------------
 */

static void plan_lu(kit_plan *plan)
{
    kit_plan_matrices(plan, false, BIT(KIT_KINDS) - 1);
}

static void generate_matrices(kit_case *c, kit_rng *rng)
{
    kit_generate_matrices(c, c->row->info.n_out, (kit_kind)c->kind, rng);
}

/* Permutes the rows: row i of the result is row perm[i] of a. False: perm is not a permutation. */
static bool permute(const kit_matrix *a, const kit_matrix *perm, kit_matrix *out)
{
    bool *seen = kit_memory((size_t)a->rows * sizeof *seen), sound = true;
    int64_t parts = perm->rows ? a->rows / perm->rows : 1;
    for (int64_t i = 0; i < perm->rows && sound; i++) {
        real row = perm->at[i];
        sound = row >= 0 && row < (real)perm->rows && !seen[(int64_t)row];
        if (!sound)
            break;
        seen[(int64_t)row] = true;
        for (int64_t j = 0; j < parts * a->columns; j++)
            kit_entry(out, i * parts, 0)[j] = kit_entry(a, (int64_t)row * parts, 0)[j];
    }
    free(seen);
    return sound;
}

/* Checks that L has a unit diagonal, zeros above it and no entry larger than 1 (complex: parts of
 * more than sqrt 2), and that U is zero below its diagonal. */
static void judge_triangles(kit_verdict *v, const kit_matrix *l, const kit_matrix *u, int64_t parts,
                            int64_t batch)
{
    real largest = parts == 1 ? 1 : 1.41422L;
    for (int64_t i = 0; i < l->rows; i++)
        for (int64_t j = 0; j < l->columns; j++) {
            real x = *kit_entry(l, i, j);
            if (i == j ? x != 1 : j > i ? x != 0 : !(fabsl(x) <= largest))
                kit_fail(v, "matrix %" PRId64 ": L[%" PRId64 ",%" PRId64 "] is %.9Lg", batch, i, j,
                         x);
        }
    for (int64_t i = 0; i < u->rows; i++)
        for (int64_t j = 0; j < i / parts * parts && j < u->columns; j++)
            if (*kit_entry(u, i, j) != 0)
                kit_fail(v, "matrix %" PRId64 ": U[%" PRId64 ",%" PRId64 "] is not 0", batch, i, j);
}

/* The largest |a - b| / scale over the elements; differences up to the floor are ignored. */
static real worst_ratio(const kit_matrix *a, const kit_matrix *b, const kit_matrix *scale,
                        real floor)
{
    real worst = 0;
    for (int64_t i = 0; i < a->rows * a->columns; i++) {
        real error = fabsl(a->at[i] - b->at[i]);
        if (!(error <= floor))
            worst = fmaxl(worst, isnan(error) ? (real)INFINITY : error / scale->at[i]);
    }
    return worst;
}

static kit_matrix magnitudes(const kit_matrix *a)
{
    kit_matrix b = kit_matrix_zero(a->rows, a->columns);
    for (int64_t i = 0; i < a->rows * a->columns; i++)
        b.at[i] = fabsl(a->at[i]);
    return b;
}

/* |A - L U| relative to |L| |U|, elementwise. */
static void judge_product(const kit_case *c, kit_verdict *v, const kit_matrix *a,
                          const kit_matrix *l, const kit_matrix *u, int64_t batch)
{
    real smallest = kit_smallest(c, c->row->info.n_out),
         terms = (real)(l->columns / kit_matrix_parts(c) + 4);
    kit_local product = kit_product(l, u), big_l = magnitudes(l), big_u = magnitudes(u);
    kit_local scale = kit_product(&big_l, &big_u);
    /* The factor 2: rounding denormal elements of L adds as large an error again. */
    real floor = 2 * terms * smallest;
    kit_measure(c, v, "residual", batch, worst_ratio(a, &product, &scale, floor), terms, 0);
}

static int64_t first_zero(const kit_matrix *u, int64_t parts)
{
    for (int64_t i = 0; i < u->rows && i < u->columns; i += parts)
        if (*kit_entry(u, i, i) == 0 && *kit_entry(u, i + parts - 1, i) == 0)
            return i / parts + 1;
    return 0;
}

static void judge_one_lu(const kit_case *c, kit_verdict *v, int64_t batch)
{
    kit_local a = kit_matrix_of(c, 4, 2, 1, batch), perm = kit_matrix_of(c, 0, 1, 1, batch);
    kit_local l = kit_matrix_of(c, 1, 2, 1, batch), u = kit_matrix_of(c, 2, 2, 1, batch);
    kit_local rows = kit_matrix_zero(a.rows, a.columns);
    int64_t parts = kit_matrix_parts(c), zero = kit_zero_column(a.columns / parts);
    if (!permute(&a, &perm, &rows)) {
        kit_fail(v, "matrix %" PRId64 ": perm is not a permutation", batch);
    } else if (!kit_finite(&a)) {
        kit_all_nan(c, v, 1, 2, batch);
        kit_all_nan(c, v, 2, 2, batch);
        kit_info_is(c, v, 3, batch, 0);
        for (int64_t i = 0; i < perm.rows; i++)
            if (perm.at[i] != (real)i)
                kit_fail(v,
                         "matrix %" PRId64
                         ": perm is not the identity for a matrix that is not finite",
                         batch);
    } else {
        judge_triangles(v, &l, &u, parts, batch);
        judge_product(c, v, &rows, &l, &u, batch);
        kit_info_is(c, v, 3, batch, first_zero(&u, parts));
        if (c->kind == KIT_ZERO_COLUMN && u.rows / parts > zero)
            kit_info_is(c, v, 3, batch, zero + 1);
    }
}

static void judge_lu(const kit_case *c, kit_verdict *v)
{
    for (int64_t batch = 0; batch < kit_matrix_count(c, 1); batch++)
        judge_one_lu(c, v, batch);
}

/* ---- cholesky ---------------------------------------------------------------------------------
 */

static void plan_cholesky(kit_plan *plan)
{
    kit_plan_matrices(plan, true,
                      BIT(KIT_NORMAL) | BIT(KIT_ZERO) | BIT(KIT_IDENTITY) | BIT(KIT_GRADED) |
                          BIT(KIT_MIRROR) | BIT(KIT_LARGE) | BIT(KIT_SMALL) | BIT(KIT_ZERO_COLUMN) |
                          BIT(KIT_NOT_FINITE));
}

static void generate_cholesky(kit_case *c, kit_rng *rng)
{
    kit_generate_symmetric(c, 2, (kit_kind)c->kind, true, rng);
}

/* 1 + the index of the first pivot that is not positive and finite, by definition. */
static int64_t bad_pivot(const kit_matrix *a)
{
    kit_local l = kit_matrix_zero(a->rows, a->rows);
    int64_t bad = 0;
    for (int64_t i = 0; i < a->rows && !bad; i++)
        for (int64_t j = 0; j <= i; j++) {
            real sum = *kit_entry(a, i, j);
            for (int64_t k = 0; k < j; k++)
                sum -= *kit_entry(&l, i, k) * *kit_entry(&l, j, k);
            if (i == j && !(sum > 0 && isfinite(sum)))
                bad = i + 1;
            *kit_entry(&l, i, j) = i == j ? sqrtl(sum) : sum / *kit_entry(&l, j, j);
        }
    return bad;
}

static void judge_one_cholesky(const kit_case *c, kit_verdict *v, int64_t batch)
{
    kit_local a = kit_matrix_of(c, 2, 2, 2, batch), l = kit_matrix_of(c, 0, 2, 2, batch);
    int64_t parts = kit_matrix_parts(c);
    kit_mirror(&a, parts);
    int64_t bad = (bad_pivot(&a) + parts - 1) / parts;
    kit_info_is(c, v, 1, batch, bad);
    if (bad) {
        kit_all_nan(c, v, 0, 2, batch);
    } else {
        for (int64_t i = 0; i < l.rows; i++) {
            if (!(*kit_entry(&l, i, i) > 0))
                kit_fail(v, "matrix %" PRId64 ": L[%" PRId64 ",%" PRId64 "] is not positive", batch,
                         i, i);
            for (int64_t j = i + 1; j < l.columns; j++)
                if (*kit_entry(&l, i, j) != 0)
                    kit_fail(v, "matrix %" PRId64 ": L[%" PRId64 ",%" PRId64 "] is not 0", batch, i,
                             j);
        }
        kit_local t = kit_transposed(&l);
        judge_product(c, v, &a, &l, &t, batch);
    }
}

static void judge_cholesky(const kit_case *c, kit_verdict *v)
{
    for (int64_t batch = 0; batch < kit_matrix_count(c, 2); batch++)
        judge_one_cholesky(c, v, batch);
}

/* ---- qr ---------------------------------------------------------------------------------------
 */

static void plan_qr(kit_plan *plan)
{
    kit_plan_matrices(plan, false, BIT(KIT_KINDS) - 1);
}

/* |a_j - Q r_j| relative to |a_j|, maximum over the columns. */
static void judge_columns(const kit_case *c, kit_verdict *v, const kit_matrix *a,
                          const kit_matrix *product, int64_t batch)
{
    real worst = 0, floor = (real)(a->rows + a->columns) * kit_smallest(c, 2);
    for (int64_t j = 0; j < a->columns; j++) {
        real error = 0, size = 0;
        for (int64_t i = 0; i < a->rows; i++) {
            error = hypotl(error, *kit_entry(a, i, j) - *kit_entry(product, i, j));
            size = hypotl(size, *kit_entry(a, i, j));
        }
        if (!(error <= floor))
            worst = fmaxl(worst, isnan(error) ? (real)INFINITY : error / size);
    }
    kit_measure(c, v, "residual", batch, worst, (real)(product->rows / kit_matrix_parts(c) + 4), 0);
}

static void judge_one_qr(const kit_case *c, kit_verdict *v, int64_t batch)
{
    kit_local a = kit_matrix_of(c, 2, 2, 2, batch), q = kit_matrix_of(c, 0, 2, 2, batch);
    kit_local r = kit_matrix_of(c, 1, 2, 2, batch), product = kit_product(&q, &r);
    if (!kit_finite(&a)) {
        kit_all_nan(c, v, 0, 2, batch);
        kit_all_nan(c, v, 1, 2, batch);
    } else {
        for (int64_t i = 0; i < r.rows; i++) {
            if (!(*kit_entry(&r, i, i) >= 0))
                kit_fail(v, "matrix %" PRId64 ": R[%" PRId64 ",%" PRId64 "] is negative: %.9Lg",
                         batch, i, i, *kit_entry(&r, i, i));
            for (int64_t j = 0; j < i; j++)
                if (*kit_entry(&r, i, j) != 0)
                    kit_fail(v, "matrix %" PRId64 ": R[%" PRId64 ",%" PRId64 "] is not 0", batch, i,
                             j);
        }
        judge_columns(c, v, &a, &product, batch);
        kit_measure(c, v, "orthogonality", batch, kit_departure(&q),
                    (real)(q.rows / kit_matrix_parts(c) + 4), 0);
    }
}

static void judge_qr(const kit_case *c, kit_verdict *v)
{
    for (int64_t batch = 0; batch < kit_matrix_count(c, 2); batch++)
        judge_one_qr(c, v, batch);
}

/* ---- solve ------------------------------------------------------------------------------------
 */

enum { RIGHT_NOT_FINITE = KIT_KINDS };

static kit_case system_of(const kit_plan *plan, int64_t n, int64_t r, int32_t axes,
                          const int64_t *batch, int kind)
{
    kit_case c = kit_case_of(plan);
    kit_bind(&c, "NR", (const int64_t[]){n, r}, axes, batch, 0);
    c.kind = kind;
    c.data = kind == RIGHT_NOT_FINITE ? "right sides not finite" : kit_kind_names[kind];
    return c;
}

static void plan_systems(kit_plan *plan, int64_t n, int64_t r)
{
    static const int64_t two[] = {2, 3}, none[] = {0}, many[] = {70};
    kit_case c = system_of(plan, n, r, 2, two, KIT_NORMAL);
    kit_emit_layouts(plan, &c);
    kit_emit_sharing(plan, &c);
    kit_shape(&c, 2, 3, (const int64_t[]){3, n, n});
    kit_emit_layouts(plan, &c);
    kit_shape(&c, 2, 3, (const int64_t[]){3, n, n});
    kit_shape(&c, 3, 4, (const int64_t[]){2, 1, n, r});
    kit_emit(plan, &c);
    c = system_of(plan, n, r, 2, two, KIT_ZERO_COLUMN);
    kit_shape(&c, 2, 3, (const int64_t[]){3, n, n});
    kit_emit(plan, &c);
    c = system_of(plan, n, r, 1, none, KIT_NORMAL);
    kit_emit(plan, &c);
    c = system_of(plan, n, r, 1, many, KIT_NORMAL);
    kit_emit(plan, &c);
    c = system_of(plan, n, r, 1, many, KIT_ZERO_COLUMN);
    kit_emit(plan, &c);
    c = system_of(plan, n, r, 1, many, KIT_NOT_FINITE);
    kit_emit(plan, &c);
}

static void plan_solve(kit_plan *plan)
{
    static const int64_t sizes[][2] = {{1, 1}, {2, 1},  {3, 1},  {4, 2},   {5, 3},
                                       {8, 8}, {17, 1}, {33, 5}, {64, 3},  {97, 40},
                                       {0, 0}, {0, 3},  {3, 0},  {4, 129}, {200, 7}};
    static const int kinds[] = {KIT_NORMAL,      KIT_ZERO,       KIT_IDENTITY,    KIT_GRADED,
                                KIT_MIRROR,      KIT_LARGE,      KIT_SMALL,       KIT_DENORMAL,
                                KIT_ZERO_COLUMN, KIT_NOT_FINITE, RIGHT_NOT_FINITE};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            kit_case c = system_of(plan, sizes[i][0], sizes[i][1], 0, NULL, kinds[k]);
            c.big = sizes[i][0] > 60;
            kit_emit(plan, &c);
        }
    plan_systems(plan, 3, 1);
    plan_systems(plan, 4, 3);
    plan_systems(plan, 36, 2);
}

/* The second half of the batch is singular. */
static void generate_solve(kit_case *c, kit_rng *rng)
{
    kit_tensor *a = &c->operand[2], *b = &c->operand[3];
    int64_t n = a->shape[a->ndim - 1], size = n * n, parts = kit_matrix_parts(c);
    kit_kind kind =
        c->kind == RIGHT_NOT_FINITE || c->kind == KIT_ZERO_COLUMN ? KIT_NORMAL : (kit_kind)c->kind;
    bool alike = c->kind == KIT_LARGE || c->kind == KIT_SMALL || c->kind == KIT_DENORMAL;
    kit_generate_matrices(c, 2, kind, rng);
    kit_generate_matrices(c, 3, alike ? kind : KIT_NORMAL, rng);
    for (int64_t i = 0; i < kit_parts(a) && c->kind == KIT_ZERO_COLUMN; i++)
        if (i / parts / size * 2 + 1 >= a->count / size && i / parts % n == kit_zero_column(n))
            kit_set(a, i, 0);
    for (int64_t i = 0; i < kit_parts(b) && c->kind == RIGHT_NOT_FINITE; i++)
        if (kit_below(rng, 4) == 0)
            kit_set(b, i, kit_next(rng) & 1 ? (long double)NAN : (long double)INFINITY);
}

static bool has_zero_column(const kit_matrix *a)
{
    for (int64_t j = 0; j < a->columns; j++) {
        bool zero = true;
        for (int64_t i = 0; i < a->rows; i++)
            zero = zero && *kit_entry(a, i, j) == 0;
        if (zero)
            return true;
    }
    return false;
}

/* Infinity norm. */
static real row_norm(const kit_matrix *a)
{
    real norm = 0;
    for (int64_t i = 0; i < a->rows; i++) {
        real sum = 0;
        for (int64_t j = 0; j < a->columns; j++)
            sum += fabsl(*kit_entry(a, i, j));
        norm = fmaxl(norm, sum);
    }
    return norm;
}

/* Measures |b - A x| relative to n (|A| |x| + |b|), in infinity norms, for each column of b. If the column is not
 * finite, x must be NaN there. */
static void judge_system(const kit_case *c, kit_verdict *v, const kit_matrix *a,
                         const kit_matrix *product, const kit_matrix *b, const kit_matrix *x,
                         int64_t batch)
{
    real norm = row_norm(a), n = (real)(a->rows / kit_matrix_parts(c));
    for (int64_t j = 0; j < b->columns; j++) {
        real error = 0, size_x = 0, size_b = 0;
        bool finite = true;
        for (int64_t i = 0; i < b->rows; i++) {
            real difference = fabsl(*kit_entry(b, i, j) - *kit_entry(product, i, j));
            finite = finite && isfinite(*kit_entry(b, i, j));
            error = isnan(difference) ? (real)INFINITY : fmaxl(error, difference);
            size_x = fmaxl(size_x, fabsl(*kit_entry(x, i, j)));
            size_b = fmaxl(size_b, fabsl(*kit_entry(b, i, j)));
        }
        for (int64_t i = 0; i < x->rows && !finite; i++)
            if (!isnan(*kit_entry(x, i, j)))
                kit_fail(v, "matrix %" PRId64 ": x of a right side that is not finite is not NaN",
                         batch);
        real floor = n * (n + 4) * kit_smallest(c, 2) * (1 + size_x);
        if (finite)
            kit_measure(c, v, "backward error", batch, error, n * (norm * size_x + size_b), floor);
    }
}

static void judge_solve(const kit_case *c, kit_verdict *v)
{
    int64_t count = kit_matrix_count(c, 2), singular = 0;
    for (int64_t batch = 0; batch < count; batch++) {
        kit_local a = kit_matrix_of(c, 2, 2, 2, batch), b = kit_matrix_of(c, 3, 2, 2, batch);
        kit_local x = kit_matrix_of(c, 0, 2, 2, batch), product = kit_product(&a, &x);
        bool finite = kit_finite(&a), none = finite && has_zero_column(&a);
        if (none && !singular)
            singular = batch + 1;
        if (none || !finite)
            kit_all_nan(c, v, 0, 2, batch);
        else
            judge_system(c, v, &a, &product, &b, &x, batch);
    }
    kit_info_is(c, v, 1, 0, singular);
}

const kit_op kit_factor_ops[] = {
    {COLLET_OP_LU, plan_lu, generate_matrices, judge_lu},
    {COLLET_OP_SOLVE, plan_solve, generate_solve, judge_solve},
    {COLLET_OP_QR, plan_qr, generate_matrices, judge_qr},
    {COLLET_OP_CHOLESKY, plan_cholesky, generate_cholesky, judge_cholesky},
    {0},
};
