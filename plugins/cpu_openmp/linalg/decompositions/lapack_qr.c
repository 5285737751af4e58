/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Householder QR by blocks of columns, on row-major matrices: LAPACK's QR needs column-major matrices, and three
 * transposing copies would take a fifteenth of the time of LAPACK's QR. The vectors of a block are computed as
 * columns, in a panel that stays in the cache, and applied by matrix products; Q replaces them from the last block to
 * the first. The signs that make R's diagonal positive are applied to the identity from which Q is formed.
 * Tests: conformance/linalg/factors.c, tests/host/test_decompositions.c
 */
#include <string.h>

#include "shared/host/util/counts.h"
#include "cpu_openmp/util/real.h"
#include "shared/host/linalg/decompositions.h"
#include "shared/host/linalg/matrices.h"
#include "kernel_panel.h"
#include "lapack.h"

/* Columns of a block. */
#define BLOCK 32

/* A factorisation and its scratch. `a` is m x n and becomes R, with the Householder vectors below the
 * diagonal; q is m x k. If n = k, q is the same memory as `a`. */
typedef struct qr_work {
    const lapack_job *job;
    dense_view a, q;
    int64_t k; /* min(m, n) */
    int64_t size;
    char *panel;        /* vectors of a block, in columns: m x BLOCK */
    char *t;            /* the matrix T of every block, BLOCK x BLOCK each */
    char *left, *right; /* BLOCK x n each */
    char *corner;       /* BLOCK x BLOCK */
    int8_t *negated;    /* rows of R whose sign changes */
} qr_work;

/* Scratch for q if BLAS does not support the output, and for `a` if it shares memory with neither q nor R. */
typedef struct qr_places {
    void *q, *a;
} qr_places;

static qr_work qr_take(const collet_kernel_call *call, lapack_pieces *p, qr_places *places)
{
    dense_view q = dense_of(operand_of(call, 0), 0), upper = dense_of(operand_of(call, 1), 0);
    int64_t m = q.rows, n = upper.columns, k = q.columns;
    uint64_t size = cpu_dtype_size(q.dtype);
    qr_work r = {.k = k, .size = (int64_t)size};
    r.panel = lapack_take(p, m, BLOCK, size);
    r.t = lapack_take(p, (k + BLOCK - 1) / BLOCK, BLOCK * BLOCK, size);
    r.left = lapack_take(p, BLOCK, n, size);
    r.right = lapack_take(p, BLOCK, n, size);
    r.corner = lapack_take(p, BLOCK, BLOCK, size);
    r.negated = lapack_take(p, k, 1, 1);
    places->q = dense_stride(&q) ? NULL : lapack_take(p, m, k, size);
    places->a = n == k || dense_stride(&upper) ? NULL : lapack_take(p, m, n, size);
    return r;
}

void lapack_qr_scratch(const collet_kernel_call *call, lapack_pieces *p)
{
    qr_places places;
    (void)qr_take(call, p, &places);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static char *element(const dense_view *v, int64_t i, int64_t j)
{
    return v->at + i * v->row + j * v->column;
}

static dense_view part(const dense_view *v, int64_t i, int64_t j, int64_t rows, int64_t columns)
{
    dense_view p = *v;
    p.at = element(v, i, j);
    p.rows = rows;
    p.columns = columns;
    return p;
}

static blas_matrix matrix(const qr_work *r, const dense_view *v, int64_t i, int64_t j)
{
    int64_t stride = v->rows > 1 ? v->row / r->size : v->columns;
    return (blas_matrix){.at = element(v, i, j), .stride = stride};
}

static blas_matrix dense_matrix(char *at, int64_t stride)
{
    return (blas_matrix){.at = at, .stride = stride};
}

static blas_matrix transposed(blas_matrix m)
{
    m.transposed = !m.transposed;
    return m;
}

/* c (m x n) = factor a b + keep c, k terms. */
static void multiply(const qr_work *r, blas_matrix c, blas_matrix a, blas_matrix b, int64_t m,
                     int64_t n, int64_t k, int factor, int keep)
{
    if (m > 0 && n > 0 && k > 0)
        lapack_multiply(r->job, &c, &a, &b, m, n, k, factor, keep);
}

static void add_number(const qr_work *r, char *at, int value)
{
    if (r->job->wide)
        *(double *)(void *)at += value;
    else
        *(float *)(void *)at += (float)value;
}

/* The view of the panel that has room for columns first .. first+columns-1 of v, from row `first` down. */
static dense_view panel_of(const qr_work *r, const dense_view *v, int64_t first, int64_t columns)
{
    return dense_transposed(dense_at(r->panel, v->dtype, columns, v->rows - first));
}

/* Completes the Householder vectors in the panel: stores the leading 1 of each vector and the zeros before
 * it. The panel is then V^T, with `rows` numbers per row. */
static blas_matrix complete_panel(const qr_work *r, int64_t rows, int64_t columns)
{
    for (int64_t j = 0; j < columns; j++) {
        char *vector = r->panel + j * rows * r->size;
        memset(vector, 0, (size_t)((j + 1) * r->size));
        add_number(r, vector + j * r->size, 1);
    }
    return dense_matrix(r->panel, rows);
}

static char *triangle(const qr_work *r, int64_t first)
{
    return r->t + first / BLOCK * (BLOCK * BLOCK * r->size);
}

/* Computes R and the Householder vectors, block by block. */
static void reduce(const qr_work *r)
{
    const dense_view *a = &r->a;
    const collet_device *device = r->job->device;
    for (int64_t first = 0; first < r->k; first += BLOCK) {
        int64_t columns = min_i64(BLOCK, r->k - first), rows = a->rows - first;
        int64_t next = first + columns, rest = a->columns - next;
        dense_view here = part(a, first, first, rows, columns);
        dense_view panel = panel_of(r, a, first, columns);
        char *t = triangle(r, first);
        dense_copy(device, 1, &panel, &here);
        device->level->panel->qr[r->job->wide](r->panel, rows, rows, columns, t);
        dense_copy(device, 1, &here, &panel);
        if (rest == 0)
            continue;
        blas_matrix vectors = complete_panel(r, rows, columns),
                    adjacent = matrix(r, a, first, next);
        blas_matrix left = dense_matrix(r->left, rest), right = dense_matrix(r->right, rest);
        multiply(r, left, vectors, adjacent, columns, rest, rows, 1, 0);
        multiply(r, right, transposed(dense_matrix(t, columns)), left, columns, rest, columns, 1,
                 0);
        multiply(r, adjacent, transposed(vectors), right, rows, rest, columns, -1, 1);
    }
}

/* Computes the columns of Q that belong to a block: the signed identity minus V T V1^T, where V1 is the first rows
 * of V. */
static void form_own(const qr_work *r, int64_t first, int64_t columns, blas_matrix vectors)
{
    blas_matrix corner = dense_matrix(r->corner, columns);
    multiply(r, corner, dense_matrix(triangle(r, first), columns), vectors, columns, columns,
             columns, 1, 0);
    dense_view transpose = dense_transposed(dense_at(r->corner, r->q.dtype, columns, columns));
    for (int64_t j = 0; j < columns; j++) {
        if (r->negated[first + j])
            dense_negate(r->job->device, &transpose, j, 0);
    }
    multiply(r, matrix(r, &r->q, first, first), transposed(vectors), corner, r->q.rows - first,
             columns, columns, -1, 0);
    for (int64_t j = first; j < first + columns; j++)
        add_number(r, element(&r->q, j, j), r->negated[j] ? -1 : 1);
}

/* Replaces the vectors by Q, from the last block to the first. Before a block is applied, the elements in its rows
 * and in the columns of later blocks count as zero. */
static void form(const qr_work *r)
{
    const dense_view *q = &r->q;
    for (int64_t first = (r->k - 1) / BLOCK * BLOCK; first >= 0; first -= BLOCK) {
        int64_t columns = min_i64(BLOCK, r->k - first), rows = q->rows - first;
        int64_t next = first + columns, rest = r->k - next, below = rows - columns;
        dense_view here = part(q, first, first, rows, columns);
        dense_view panel = panel_of(r, q, first, columns);
        dense_copy(r->job->device, 1, &panel, &here);
        blas_matrix vectors = complete_panel(r, rows, columns), lower = vectors;
        lower.at = r->panel + columns * r->size;
        blas_matrix left = dense_matrix(r->left, rest), right = dense_matrix(r->right, rest);
        blas_matrix under = matrix(r, q, next, next), adjacent = matrix(r, q, first, next);
        multiply(r, left, lower, under, columns, rest, below, 1, 0);
        multiply(r, right, dense_matrix(triangle(r, first), columns), left, columns, rest, columns,
                 1, 0);
        multiply(r, under, transposed(lower), right, below, rest, columns, -1, 1);
        multiply(r, adjacent, transposed(vectors), right, columns, rest, columns, -1, 0);
        form_own(r, first, columns, vectors);
    }
}

/* ---- qr -------------------------------------------------------------------------------------- */

/* Stores R from `a`, which may be the output itself, with signs that make the diagonal nonnegative. */
static void store_upper(const qr_work *r, const dense_view *upper)
{
    dense_view top = part(&r->a, 0, 0, r->k, r->a.columns);
    if (top.at != upper->at)
        dense_copy(r->job->device, r->job->threads, upper, &top);
    dense_clear_below(upper);
    for (int64_t k = 0; k < r->k; k++) {
        r->negated[k] = real_load(element(upper, k, k), r->job->wide) < 0.0;
        if (r->negated[k])
            dense_negate(r->job->device, upper, k, k);
    }
}

static void decompose(const qr_work *r, const dense_view *q, const dense_view *upper)
{
    const lapack_job *job = r->job;
    blas_use use;
    lapack_enter(job, &use, 1);
    reduce(r);
    lapack_leave(job, &use);
    if (r->q.at != r->a.at) {
        dense_view vectors = part(&r->a, 0, 0, r->a.rows, r->k);
        dense_copy(job->device, job->threads, &r->q, &vectors);
    }
    store_upper(r, upper);
    lapack_enter(job, &use, 1);
    form(r);
    lapack_leave(job, &use);
    if (r->q.at != q->at)
        dense_copy(job->device, job->threads, q, &r->q);
}

void lapack_qr(const lapack_job *job, void *scratch, int64_t begin, int64_t end)
{
    const collet_kernel_call *call = job->call;
    lapack_pieces p = {.base = scratch};
    qr_places places;
    qr_work r = qr_take(call, &p, &places);
    r.job = job;
    for (int64_t index = begin; index < end; index++) {
        dense_view q = dense_of(operand_of(call, 0), index);
        dense_view upper = dense_of(operand_of(call, 1), index);
        dense_view in = dense_of(operand_of(call, 2), index);
        r.q = places.q ? dense_at(places.q, q.dtype, q.rows, q.columns) : q;
        r.a = in.columns == q.columns ? r.q
              : places.a              ? dense_at(places.a, in.dtype, in.rows, in.columns)
                                      : upper;
        if (lapack_is_regular(job, dense_load(job->device, job->threads, &r.a, &in, 0)))
            decompose(&r, &q, &upper);
        else
            (void)cpu_decomposition_run(call, scratch, index, index + 1);
    }
}
