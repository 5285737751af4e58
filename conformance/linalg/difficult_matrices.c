/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of difficult matrices.
 * Tests: tests/conformance/test_broken.c */
#include "matrices.h"

#include <math.h>
#include <stdlib.h>

const char *const kit_kind_names[KIT_KINDS] = {
    "",           "rank deficient", "zero",           "identity", "graded",          "Hilbert's",
    "reflection", "near overflow",  "near underflow", "denormal", "one column zero", "not finite",
};

int64_t kit_zero_column(int64_t columns)
{
    return columns / 2;
}

/* The largest exponent of elements, up or down, for which their products stay in the dtype's
 * range. */
static int spread_of(collet_dtype dtype)
{
    return kit_part(dtype) == COLLET_F32 ? 30 : 245;
}

static void unit_vector(real *x, int64_t n, kit_rng *rng)
{
    real sum = 0;
    for (int64_t i = 0; i < n; i++) {
        x[i] = kit_normal(rng);
        sum += x[i] * x[i];
    }
    for (int64_t i = 0; i < n; i++)
        x[i] /= sum > 0 ? sqrtl(sum) : 1;
}

/* Adds outer products of random vectors, as many as half of the full rank. */
static void add_few_products(kit_matrix *a, kit_rng *rng)
{
    int64_t rank = a->rows < a->columns ? a->rows : a->columns;
    real *x = kit_memory((size_t)(a->rows + a->columns) * sizeof *x), *y = x + a->rows;
    for (int64_t r = 0; r < (rank + 1) / 2; r++) {
        unit_vector(x, a->rows, rng);
        unit_vector(y, a->columns, rng);
        for (int64_t i = 0; i < a->rows; i++)
            for (int64_t j = 0; j < a->columns; j++)
                *kit_entry(a, i, j) += x[i] * y[j];
    }
    free(x);
}

static void make_mirror(kit_matrix *a, kit_rng *rng)
{
    int64_t n = a->rows > a->columns ? a->rows : a->columns;
    real *x = kit_memory((size_t)n * sizeof *x);
    unit_vector(x, n, rng);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->columns; j++)
            *kit_entry(a, i, j) = (i == j ? 1 : 0) - 2 * x[i] * x[j];
    free(x);
}

/* Scales each row and each column by a random power of two; in the real form of a complex matrix,
 * each pair of rows and of columns. */
static void grade(kit_matrix *a, int64_t parts, bool alike, int spread, kit_rng *rng)
{
    int *exponents = kit_memory((size_t)(a->rows + a->columns) * sizeof *exponents);
    for (int64_t i = 0; i < a->rows + a->columns; i++)
        exponents[i] = (int)kit_below(rng, 2 * spread + 1) - spread;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->columns; j++)
            *kit_entry(a, i, j) =
                ldexpl(*kit_entry(a, i, j),
                       exponents[i / parts] + exponents[j / parts + (alike ? 0 : a->rows)]);
    free(exponents);
}

static void scale(kit_matrix *a, int exponent)
{
    for (int64_t i = 0; i < a->rows * a->columns; i++)
        a->at[i] = ldexpl(a->at[i], exponent);
}

/* A matrix of the kind before rounding to the dtype. */
static kit_matrix matrix_of(int64_t rows, int64_t columns, kit_kind kind, collet_dtype dtype,
                            kit_rng *rng)
{
    kit_matrix a = kit_matrix_zero(rows, columns);
    bool wide = kit_part(dtype) == COLLET_F64;
    for (int64_t i = 0; i < rows * columns; i++)
        a.at[i] = kind == KIT_DEFICIENT || kind == KIT_ZERO ? 0 : (real)kit_normal(rng);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            if (kind == KIT_IDENTITY)
                *kit_entry(&a, i, j) = i == j;
            if (kind == KIT_HILBERT)
                *kit_entry(&a, i, j) = 1 / (real)(i + j + 1);
            if (kind == KIT_ZERO_COLUMN && j == kit_zero_column(columns))
                *kit_entry(&a, i, j) = 0;
        }
    if (kind == KIT_DEFICIENT)
        add_few_products(&a, rng);
    if (kind == KIT_MIRROR)
        make_mirror(&a, rng);
    if (kind == KIT_GRADED)
        grade(&a, 1, false, spread_of(dtype), rng);
    if (kind == KIT_LARGE)
        scale(&a, wide ? 1000 : 110);
    if (kind == KIT_SMALL)
        scale(&a, wide ? -950 : -95);
    if (kind == KIT_DENORMAL)
        scale(&a, wide ? -1064 : -139);
    return a;
}

static int64_t parts_of(collet_dtype dtype)
{
    return kit_part(dtype) == dtype ? 1 : 2;
}

/* Like matrix_of, but also for complex dtypes. A complex matrix of a kind that defines the values is the real matrix
 * multiplied by 0.6 + 0.8 i. */
static kit_matrix numbers_of(int64_t rows, int64_t columns, kit_kind kind, collet_dtype dtype,
                             kit_rng *rng)
{
    if (parts_of(dtype) == 1)
        return matrix_of(rows, columns, kind, dtype, rng);
    bool defined =
        kind == KIT_DEFICIENT || kind == KIT_IDENTITY || kind == KIT_HILBERT || kind == KIT_MIRROR;
    kit_local x = matrix_of(rows, columns, kind, dtype, rng);
    kit_local y =
        defined ? kit_matrix_zero(rows, columns) : matrix_of(rows, columns, kind, dtype, rng);
    kit_matrix a = kit_matrix_zero(2 * rows, 2 * columns);
    for (int64_t i = 0; i < rows * columns; i++) {
        real *block = kit_entry(&a, i / columns * 2, i % columns * 2);
        block[0] = block[a.columns + 1] = (defined ? 0.6L : 1) * x.at[i];
        block[a.columns] = defined ? 0.8L * x.at[i] : y.at[i];
        block[1] = -block[a.columns];
    }
    return a;
}

static void put(kit_tensor *t, int64_t first, const kit_matrix *a)
{
    int64_t parts = parts_of(t->dtype), columns = a->columns / parts;
    for (int64_t i = 0; i < a->rows / parts * columns; i++)
        for (int64_t part = 0; part < parts; part++)
            kit_set(t, parts * (first + i) + part,
                    *kit_entry(a, i / columns * parts + part, i % columns * parts));
}

static void poison(kit_tensor *t, int64_t element, int64_t part, kit_rng *rng)
{
    static const long double values[] = {NAN, INFINITY, -INFINITY};
    kit_set(t, parts_of(t->dtype) * element + part, values[kit_below(rng, 3)]);
}

void kit_generate_matrices(kit_case *c, uint32_t k, kit_kind kind, kit_rng *rng)
{
    kit_tensor *t = &c->operand[k];
    int64_t rows = t->shape[t->ndim - 2], columns = t->shape[t->ndim - 1], size = rows * columns;
    for (int64_t first = 0; first < t->count; first += size) {
        kit_local a = numbers_of(rows, columns, kind, t->dtype, rng);
        put(t, first, &a);
        if (kind == KIT_NOT_FINITE && first / size % 2 == 0)
            poison(t, first + kit_below(rng, size), kit_below(rng, parts_of(t->dtype)), rng);
    }
}

/* A positive definite matrix of the kind. */
static kit_matrix positive_of(int64_t n, kit_kind kind, collet_dtype dtype, kit_rng *rng)
{
    bool product = kind == KIT_NORMAL || kind == KIT_NOT_FINITE || kind == KIT_GRADED ||
                   kind == KIT_LARGE || kind == KIT_SMALL;
    if (!product)
        return numbers_of(n, n, kind, dtype, rng);
    kit_local b = numbers_of(n, n, KIT_NORMAL, dtype, rng), t = kit_transposed(&b);
    kit_matrix a = kit_product(&b, &t);
    bool wide = kit_part(dtype) == COLLET_F64;
    for (int64_t i = 0; i < a.rows; i++)
        *kit_entry(&a, i, i) += 1;
    if (kind == KIT_GRADED)
        grade(&a, parts_of(dtype), true, spread_of(dtype), rng);
    if (kind == KIT_LARGE || kind == KIT_SMALL)
        scale(&a, kind == KIT_LARGE ? (wide ? 1000 : 110) : (wide ? -900 : -90));
    return a;
}

static kit_matrix symmetric_of(int64_t n, kit_kind kind, collet_dtype dtype, kit_rng *rng)
{
    kit_matrix a = numbers_of(n, n, kind == KIT_GRADED ? KIT_NORMAL : kind, dtype, rng);
    if (kind == KIT_GRADED)
        grade(&a, parts_of(dtype), true, spread_of(dtype), rng);
    kit_mirror(&a, parts_of(dtype));
    return a;
}

void kit_generate_symmetric(kit_case *c, uint32_t k, kit_kind kind, bool positive, kit_rng *rng)
{
    kit_tensor *t = &c->operand[k];
    int64_t n = t->shape[t->ndim - 1], size = n * n, parts = parts_of(t->dtype);
    for (int64_t first = 0; first < t->count; first += size) {
        kit_local a =
            positive ? positive_of(n, kind, t->dtype, rng) : symmetric_of(n, kind, t->dtype, rng);
        put(t, first, &a);
        for (int64_t i = 0; i < size * parts; i++) {
            bool unread = parts == 2 && i % 2 && i / 2 % n == i / 2 / n;
            if (!unread && i / parts % n <= i / parts / n)
                continue;
            if (kind == KIT_NOT_FINITE)
                poison(t, first + i / parts, i % parts, rng);
            else
                kit_set(t, first * parts + i, 10 * kit_normal(rng));
        }
        int64_t i = kit_below(rng, n), j = kit_below(rng, i + 1);
        if (kind == KIT_NOT_FINITE && first / size % 2 == 0)
            poison(t, first + i * n + j, i == j ? 0 : kit_below(rng, parts), rng);
    }
}

/* Number of elements above which --quick omits a matrix, and above which only some kinds run. */
#define QUICK 1100
#define LARGE 10000
#define LARGE_KINDS (1u << KIT_NORMAL | 1u << KIT_DEFICIENT | 1u << KIT_GRADED)

/* ---- Planning ---------------------------------------------------------------------------------
 */

static kit_case case_of(const kit_plan *plan, int64_t m, int64_t n, int32_t axes,
                        const int64_t *batch, kit_kind kind)
{
    kit_case c = kit_case_of(plan);
    kit_bind(&c, "MN", (const int64_t[]){m, n}, axes, batch, 0);
    c.kind = (int)kind;
    c.data = kit_kind_names[kind];
    return c;
}

/* Batch axes of the outputs, some absent or broadcast in the input. */
static void plan_batches(kit_plan *plan, int64_t m, int64_t n, uint32_t kinds)
{
    static const int64_t two[] = {2, 3}, none[] = {0}, many[] = {70};
    uint32_t in = plan->row->info.n_out;
    kit_case c = case_of(plan, m, n, 2, two, KIT_NORMAL);
    c.big = m * n > QUICK;
    kit_emit_layouts(plan, &c);
    kit_emit_sharing(plan, &c);
    kit_emit_parts(plan, &c);
    kit_shape(&c, in, 2, (const int64_t[]){m, n});
    kit_emit(plan, &c);
    kit_shape(&c, in, 4, (const int64_t[]){2, 1, m, n});
    kit_emit_layouts(plan, &c);
    c = case_of(plan, m, n, 1, none, KIT_NORMAL);
    kit_emit(plan, &c);
    for (int kind = 0; kind < KIT_KINDS; kind++) {
        c = case_of(plan, m, n, 1, many, (kit_kind)kind);
        c.big = m * n > QUICK;
        if (kinds >> kind & 1)
            kit_emit(plan, &c);
    }
}

void kit_plan_matrices(kit_plan *plan, bool square, uint32_t kinds)
{
    static const int64_t shapes[][2] = {
        {1, 1},   {2, 2},   {3, 3},     {4, 4},     {5, 5},     {8, 8},  {3, 2},  {2, 3},
        {5, 3},   {3, 5},   {7, 1},     {1, 7},     {17, 17},   {17, 9}, {9, 17}, {33, 33},
        {65, 40}, {40, 65}, {64, 64},   {97, 97},   {0, 0},     {0, 3},  {3, 0},  {500, 3},
        {3, 500}, {1, 129}, {200, 200}, {301, 120}, {120, 301},
    };
    /* For complex matrices the oracle takes eight times as long. */
    const collet_dtype *dtypes = plan->row->dtypes;
    bool plain = parts_of(dtypes[0]) == 1 && parts_of(dtypes[plan->row->info.n_out]) == 1;
    int64_t large = plain ? LARGE : QUICK;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        int64_t m = shapes[i][0], n = shapes[i][1];
        if (square && m != n)
            continue;
        for (int kind = 0; kind < KIT_KINDS; kind++) {
            kit_case c = case_of(plan, m, n, 0, NULL, (kit_kind)kind);
            c.big = m * n > QUICK;
            if (kinds >> kind & 1 && (m * n <= large || LARGE_KINDS >> kind & 1))
                kit_emit(plan, &c);
        }
        kit_case c = case_of(plan, m, n, 0, NULL, KIT_NORMAL);
        c.big = m * n > QUICK;
        c.layout[plan->row->info.n_out] = KIT_TRANSPOSED;
        kit_emit(plan, &c);
    }
    plan_batches(plan, 4, 4, kinds);
    plan_batches(plan, 3, 3, kinds);
    if (!square) {
        plan_batches(plan, 5, 3, kinds);
        plan_batches(plan, 3, 5, kinds);
    }
    plan_batches(plan, 36, square ? 36 : 34, 1u << KIT_NORMAL);
}
