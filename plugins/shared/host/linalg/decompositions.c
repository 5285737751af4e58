/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, conformance/linalg/spectra.c,
 * tests/host/test_decompositions.c */
#include "decompositions.h"

#include <string.h>

#include "shared/host/util/counts.h"
#include "factor.h"
#include "matrices.h"
#include "spectral.h"

/* Largest exponents that allow for the growth of elements in between. */
#define TOP_OF_LU 960
#define TOP_OF_QR 960
#define TOP_OF_SPECTRA 400

int64_t cpu_decomposition_count(const collet_kernel_call *call)
{
    return cpu_matrix_count(operand_of(call, call->n_out), 2);
}

/* ---- Scratch --------------------------------------------------------------------------------- */

/* Allocates parts of a scratch buffer; with base NULL it only counts bytes. */
typedef struct pieces {
    char *base;
    uint64_t used; /* UINT64_MAX: overflow */
} pieces;

/* Scratch of rows x columns doubles. */
static double *take(pieces *p, int64_t rows, int64_t columns)
{
    uint64_t bytes, used = p->used;
    if (__builtin_mul_overflow((uint64_t)rows, (uint64_t)columns, &bytes) ||
        __builtin_mul_overflow(bytes, sizeof(double), &bytes) ||
        __builtin_add_overflow(used, bytes, &p->used)) {
        p->used = UINT64_MAX;
        return NULL;
    }
    return p->base ? (double *)(void *)(p->base + used) : NULL;
}

/* ---- lu -------------------------------------------------------------------------------------- */

typedef struct lu_scratch {
    double *a, *part, *perm; /* perm: m int32 */
} lu_scratch;

static lu_scratch lu_take(const collet_kernel_call *call, pieces *p)
{
    const collet_operand *a = operand_of(call, 4);
    int64_t m = operand_extent(a, 1), n = operand_extent(a, 0);
    lu_scratch r;
    r.a = take(p, m, n);
    r.part = take(p, m > n ? m : n, min_i64(m, n));
    r.perm = take(p, m, 1);
    return r;
}

uint64_t cpu_lu_scratch(const collet_kernel_call *call)
{
    pieces p = {0};
    (void)lu_take(call, &p);
    return operand_extent(operand_of(call, 4), 1) > INT32_MAX ? UINT64_MAX : p.used;
}

static void store_perm(const collet_operand *o, int64_t index, const int32_t *perm)
{
    cpu_move(cpu_matrix_at(o, 1, index), cpu_step(o, o->ndim - 1), (const char *)perm, sizeof *perm,
             sizeof *perm, operand_extent(o, 0));
}

/* L below the diagonal, with ones on it. */
static void store_lower(const collet_operand *o, int64_t index, const lu_scratch *r, int64_t n)
{
    int64_t m = operand_extent(o, 1), shorter = operand_extent(o, 0);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < shorter; j++)
            r->part[i * shorter + j] = j < i ? r->a[i * n + j] : j == i ? 1.0 : 0.0;
    cpu_matrix_store(o, index, r->part, shorter, 1);
}

/* Stores U; returns 0, or 1 + the first zero on its diagonal as stored. */
static int64_t store_upper(const collet_operand *o, int64_t index, const lu_scratch *r,
                           double unscale)
{
    int64_t shorter = operand_extent(o, 1), n = operand_extent(o, 0), zero = 0;
    for (int64_t i = 0; i < shorter; i++) {
        for (int64_t j = 0; j < n; j++)
            r->part[i * n + j] = j < i ? 0.0 : r->a[i * n + j] * unscale;
        double pivot = r->part[i * n + i];
        if (zero == 0 && (o->dtype == COLLET_F32 ? (double)(float)pivot : pivot) == 0.0)
            zero = i + 1;
    }
    cpu_matrix_store(o, index, r->part, n, 1);
    return zero;
}

void cpu_lu(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end)
{
    const collet_operand *perm = operand_of(call, 0), *lower = operand_of(call, 1);
    const collet_operand *upper = operand_of(call, 2), *info = operand_of(call, 3);
    const collet_operand *a = operand_of(call, 4);
    int64_t m = operand_extent(a, 1), n = operand_extent(a, 0), zero;
    pieces p = {.base = scratch};
    lu_scratch r = lu_take(call, &p);
    int32_t *rows = (int32_t *)(void *)r.perm;
    for (int64_t index = begin; index < end; index++) {
        cpu_matrix_load(a, index, r.a);
        double largest = cpu_largest(r.a, m * n);
        if (isnan(largest)) {
            cpu_lu_factor(r.a, m, 0, rows);
            cpu_matrix_fill(lower, index, (double)NAN);
            cpu_matrix_fill(upper, index, (double)NAN);
            zero = 0;
        } else {
            double scale = cpu_scale_to(largest, -1100, TOP_OF_LU);
            cpu_multiply(r.a, m * n, scale);
            cpu_lu_factor(r.a, m, n, rows);
            store_lower(lower, index, &r, n);
            zero = store_upper(upper, index, &r, 1.0 / scale);
        }
        store_perm(perm, index, rows);
        cpu_info_store(info, index, zero);
    }
}

/* ---- solve ----------------------------------------------------------------------------------- */

typedef struct solve_scratch {
    double *a, *b, *x, *perm;
} solve_scratch;

static solve_scratch solve_take(const collet_kernel_call *call, pieces *p)
{
    const collet_operand *b = operand_of(call, 3);
    int64_t n = operand_extent(b, 1), columns = operand_extent(b, 0);
    solve_scratch r;
    r.a = take(p, n, n);
    r.b = take(p, n, columns);
    r.x = take(p, n, columns);
    r.perm = take(p, n, 1);
    return r;
}

uint64_t cpu_solve_scratch(const collet_kernel_call *call)
{
    pieces p = {0};
    (void)solve_take(call, &p);
    return p.used;
}

typedef enum factored { FACTORED, SINGULAR, NOT_FINITE } factored;

static factored factor(const collet_operand *a, int64_t index, const solve_scratch *r,
                       double *scale)
{
    int64_t n = operand_extent(a, 0);
    cpu_matrix_load(a, index, r->a);
    double largest = cpu_largest(r->a, n * n);
    if (isnan(largest))
        return NOT_FINITE;
    *scale = cpu_scale_to(largest, -1100, TOP_OF_LU);
    cpu_multiply(r->a, n * n, *scale);
    cpu_lu_factor(r->a, n, n, (int32_t *)(void *)r->perm);
    for (int64_t i = 0; i < n; i++)
        if (r->a[i * n + i] == 0.0)
            return SINGULAR;
    return FACTORED;
}

/* A column of b that is not finite gives a column of NaN in x. */
static void mark_columns(const solve_scratch *r, int64_t n, int64_t columns)
{
    for (int64_t j = 0; j < columns; j++) {
        int finite = 1;
        for (int64_t i = 0; i < n; i++)
            finite = finite && isfinite(r->b[i * columns + j]);
        for (int64_t i = 0; !finite && i < n; i++)
            r->x[i * columns + j] = (double)NAN;
    }
}

static void solve_one(const collet_operand *b, int64_t index, const solve_scratch *r, double scale)
{
    int64_t n = operand_extent(b, 1), columns = operand_extent(b, 0);
    cpu_matrix_load(b, index, r->b);
    double largest = cpu_largest(r->b, n * columns);
    double shrink = isnan(largest) ? 1.0 : cpu_scale_to(largest, -1100, TOP_OF_LU);
    cpu_multiply(r->b, n * columns, shrink);
    cpu_lu_solve(r->a, (const int32_t *)(const void *)r->perm, n, r->b, r->x, columns);
    cpu_multiply(r->x, n * columns, scale / shrink);
    if (isnan(largest))
        mark_columns(r, n, columns);
}

int64_t cpu_solve(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end)
{
    const collet_operand *x = operand_of(call, 0), *a = operand_of(call, 2);
    const collet_operand *b = operand_of(call, 3);
    int64_t singular = end;
    pieces p = {.base = scratch};
    solve_scratch r = solve_take(call, &p);
    const char *held = NULL;
    factored state = NOT_FINITE;
    double scale = 1.0;
    for (int64_t index = begin; index < end; index++) {
        /* A matrix that is broadcast over right-hand sides is factored once. */
        const char *at = cpu_matrix_at(a, 2, index);
        if (at != held)
            state = factor(a, index, &r, &scale);
        held = at;
        if (state == SINGULAR && singular == end)
            singular = index;
        if (state == FACTORED) {
            solve_one(b, index, &r, scale);
            cpu_matrix_store(x, index, r.x, operand_extent(x, 0), 1);
        } else {
            cpu_matrix_fill(x, index, (double)NAN);
        }
    }
    return singular;
}

void cpu_solve_info(const collet_kernel_call *call, int64_t singular)
{
    cpu_info_store(operand_of(call, 1), 0,
                   singular < cpu_decomposition_count(call) ? singular + 1 : 0);
}

/* ---- cholesky -------------------------------------------------------------------------------- */

uint64_t cpu_cholesky_scratch(const collet_kernel_call *call)
{
    int64_t n = operand_extent(operand_of(call, 2), 0);
    pieces p = {0};
    (void)take(&p, n, n);
    return p.used;
}

void cpu_cholesky(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end)
{
    const collet_operand *lower = operand_of(call, 0), *info = operand_of(call, 1);
    const collet_operand *a = operand_of(call, 2);
    int64_t n = operand_extent(a, 0);
    double *dense = scratch;
    for (int64_t index = begin; index < end; index++) {
        cpu_matrix_load(a, index, dense);
        int64_t bad = cpu_cholesky_factor(dense, n);
        if (bad)
            cpu_matrix_fill(lower, index, (double)NAN);
        else
            cpu_matrix_store(lower, index, dense, n, 1);
        cpu_info_store(info, index, bad);
    }
}

/* ---- qr -------------------------------------------------------------------------------------- */

typedef struct qr_scratch {
    double *a, *q, *rest;
} qr_scratch;

static qr_scratch qr_take(const collet_kernel_call *call, pieces *p)
{
    const collet_operand *a = operand_of(call, 2);
    int64_t m = operand_extent(a, 1), n = operand_extent(a, 0);
    qr_scratch r;
    r.a = take(p, m, n);
    r.q = take(p, m, min_i64(m, n));
    r.rest = take(p, m, 1);
    (void)take(p, n, 1);
    (void)take(p, min_i64(m, n), 1);
    return r;
}

uint64_t cpu_qr_scratch(const collet_kernel_call *call)
{
    pieces p = {0};
    (void)qr_take(call, &p);
    return p.used;
}

void cpu_qr(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end)
{
    const collet_operand *q = operand_of(call, 0), *upper = operand_of(call, 1);
    const collet_operand *a = operand_of(call, 2);
    int64_t m = operand_extent(a, 1), n = operand_extent(a, 0), shorter = min_i64(m, n);
    pieces p = {.base = scratch};
    qr_scratch r = qr_take(call, &p);
    for (int64_t index = begin; index < end; index++) {
        cpu_matrix_load(a, index, r.a);
        double largest = cpu_largest(r.a, m * n);
        if (isnan(largest)) {
            cpu_matrix_fill(q, index, (double)NAN);
            cpu_matrix_fill(upper, index, (double)NAN);
            continue;
        }
        double scale = cpu_scale_to(largest, -1100, TOP_OF_QR);
        cpu_multiply(r.a, m * n, scale);
        cpu_qr_factor(r.a, m, n, r.q, r.rest);
        cpu_multiply(r.a, shorter * n, 1.0 / scale);
        cpu_matrix_store(q, index, r.q, shorter, 1);
        cpu_matrix_store(upper, index, r.a, n, 1);
    }
}

/* ---- svd ------------------------------------------------------------------------------------- */

typedef struct svd_scratch {
    double *a, *s, *left, *right, *rest;
} svd_scratch;

/* tall >= wide: the extents of the matrix or its transpose. */
static svd_scratch svd_take(int64_t tall, int64_t wide, pieces *p)
{
    svd_scratch r;
    r.a = take(p, tall, wide);
    r.left = take(p, wide, tall);
    r.right = take(p, wide, wide);
    r.s = take(p, wide, 1);
    r.rest = take(p, tall, 1);
    (void)take(p, wide, 4);
    return r;
}

uint64_t cpu_svd_scratch(const collet_kernel_call *call)
{
    const collet_operand *a = operand_of(call, 4);
    int64_t m = operand_extent(a, 1), n = operand_extent(a, 0);
    pieces p = {0};
    (void)svd_take(m > n ? m : n, min_i64(m, n), &p);
    return p.used;
}

void cpu_svd(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end)
{
    const collet_operand *u = operand_of(call, 0), *s = operand_of(call, 1);
    const collet_operand *vt = operand_of(call, 2), *info = operand_of(call, 3);
    const collet_operand *a = operand_of(call, 4);
    int64_t m = operand_extent(a, 1), n = operand_extent(a, 0), tall = m > n ? m : n,
            wide = min_i64(m, n);
    pieces p = {.base = scratch};
    svd_scratch r = svd_take(tall, wide, &p);
    for (int64_t index = begin; index < end; index++) {
        int failed = 1;
        if (m >= n)
            cpu_matrix_load(a, index, r.a);
        else
            cpu_matrix_load_transposed(a, index, r.a);
        double largest = cpu_largest(r.a, m * n);
        if (!isnan(largest)) {
            double scale = cpu_scale_to(largest, -TOP_OF_SPECTRA, TOP_OF_SPECTRA);
            cpu_multiply(r.a, m * n, scale);
            failed = cpu_singular_values(r.a, tall, wide, r.s, r.left, r.right, r.rest);
            cpu_multiply(r.s, wide, 1.0 / scale);
        }
        if (failed) {
            cpu_matrix_fill(u, index, (double)NAN);
            cpu_vector_fill(s, index, (double)NAN);
            cpu_matrix_fill(vt, index, (double)NAN);
        } else {
            /* For the transpose, U and V are swapped. */
            cpu_matrix_store(u, index, m >= n ? r.left : r.right, 1, m);
            cpu_vector_store(s, index, r.s, 1);
            cpu_matrix_store(vt, index, m >= n ? r.right : r.left, n, 1);
        }
        cpu_info_store(info, index, failed);
    }
}

/* ---- eigh ------------------------------------------------------------------------------------ */

typedef struct eigh_scratch {
    double *a, *values, *vectors, *rest;
} eigh_scratch;

static eigh_scratch eigh_take(const collet_kernel_call *call, pieces *p)
{
    int64_t n = operand_extent(operand_of(call, 3), 0);
    eigh_scratch r;
    r.a = take(p, n, n);
    r.vectors = take(p, n, n);
    r.values = take(p, n, 1);
    r.rest = take(p, n, 3);
    return r;
}

uint64_t cpu_eigh_scratch(const collet_kernel_call *call)
{
    pieces p = {0};
    (void)eigh_take(call, &p);
    return p.used;
}

void cpu_eigh(const collet_kernel_call *call, void *scratch, int64_t begin, int64_t end)
{
    const collet_operand *values = operand_of(call, 0), *vectors = operand_of(call, 1);
    const collet_operand *info = operand_of(call, 2), *a = operand_of(call, 3);
    int64_t n = operand_extent(a, 0);
    pieces p = {.base = scratch};
    eigh_scratch r = eigh_take(call, &p);
    for (int64_t index = begin; index < end; index++) {
        int failed = 1;
        cpu_matrix_load(a, index, r.a);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                r.a[i * n + j] = 0.0;
        double largest = cpu_largest(r.a, n * n);
        if (!isnan(largest)) {
            double scale = cpu_scale_to(largest, -TOP_OF_SPECTRA, TOP_OF_SPECTRA);
            cpu_multiply(r.a, n * n, scale);
            failed = cpu_symmetric_eigen(r.a, n, r.values, r.vectors, r.rest);
            cpu_multiply(r.values, n, 1.0 / scale);
        }
        if (failed) {
            cpu_vector_fill(values, index, (double)NAN);
            cpu_matrix_fill(vectors, index, (double)NAN);
        } else {
            cpu_vector_store(values, index, r.values, 1);
            cpu_matrix_store(vectors, index, r.vectors, 1, n);
        }
        cpu_info_store(info, index, failed);
    }
}
