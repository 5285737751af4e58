/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/linalg.c, tests/cpu_openmp/test_kernels_openmp.c,
 * python/tests/linalg/test_symmetric.py */
#include "cpu_openmp/array/kernels/kernel_move.h"
#include "cpu_openmp/runtime/device.h"

#include <stdatomic.h>
#include <string.h>

#include "cpu_openmp/runtime/team.h"
#include "kernel_gemm.h"
#include "shared/host/util/counts.h"
#include "kernel_narrow.h"
#include "kernel_small.h"
#include "product.h"

#define TILE 32

/* Mirrors the lower triangle of a symmetric product (a^T a, without conjugation) to its upper triangle. */

/* Copies a block of the matrix `c` to the other side of the diagonal. The block begins at row i and column j (j <=
 * i). Elements have 2^shift bytes; the elements of a row are adjacent. A block on the diagonal is mirrored within
 * itself. */
static void symmetric_mirror(const move_kernels *move, const gemm_matrix *c, int32_t shift,
                             int64_t i, int64_t j, int64_t rows, int64_t columns)
{
    int64_t size = INT64_C(1) << shift, row = c->row * size;
    char *below = c->at + i * row + j * size, *above = c->at + j * row + i * size;
    if (i != j) {
        move->transpose[shift](above, row, below, row, rows, columns);
        return;
    }
    for (int64_t at = 0; at < rows; at += TILE) {
        int64_t n = min_i64(TILE, rows - at);
        if (at > 0)
            move->transpose[shift](above + at * size, row, below + at * row, row, n, at);
        char *square = c->at + (i + at) * (row + size);
        for (int64_t r = 0; r < n; r++)
            for (int64_t k = 0; k < r; k++)
                memcpy(square + k * row + r * size, square + r * row + k * size, (size_t)size);
    }
}

/* From this number of multiplications on, int8 products by oneDNN are faster without a plan. */
#define ONEDNN_I8_LARGE 1e9

/* Minimum number of elements per thread that are checked. */
#define CHECKED (64 << 10)

/* ---- One part -------------------------------------------------------------------------------- */

static void part_by_narrow(const product *p, const gemm_matrix m[MATRICES], int64_t rows,
                           int64_t columns, int32_t thread)
{
    const narrow_kernels *narrow = p->device->narrow;
    narrow->product(&m[C], p->to, &m[A], &m[B], p->from, rows, columns, p->inner,
                    p->scratch + (uint64_t)thread * narrow->scratch_bytes);
}

/* A product of one row is computed as a product of one column, with the factors exchanged. */
static void part_by_dots(const product *p, const gemm_matrix m[MATRICES], int64_t rows,
                         int64_t columns)
{
    int32_t *out = (int32_t *)(void *)m[C].at;
    const int8_t *a = (const int8_t *)m[A].at, *b = (const int8_t *)m[B].at;
    if (columns == 1)
        p->device->narrow->dots_i8(out, m[C].row, a, m[A].row, rows, b, p->inner);
    else
        p->device->narrow->dots_i8(out, m[C].column, b, m[B].column, columns, a, p->inner);
}

static void part_by_gemm(const product *p, const gemm_matrix m[MATRICES], int64_t rows,
                         int64_t columns, int32_t thread)
{
    const gemm_kernels *gemm = p->device->level->gemm;
    gemm->product[p->type](&m[C], &m[A], &m[B], rows, columns, p->inner,
                           p->scratch + (uint64_t)thread * gemm->scratch_bytes);
}

/* Returns 0 if the product is not supported; then nothing is written. */
static int by_onednn(const product *p, const blas_matrix *c, const blas_matrix *a,
                     const blas_matrix *b, int64_t rows, int64_t columns)
{
    if (p->from == COLLET_F32)
        return onednn_product_f32(p->onednn, c, a, b, rows, columns, p->inner);
    double work = (double)rows * (double)columns * (double)p->inner;
    if (p->from == COLLET_I8 && work >= ONEDNN_I8_LARGE)
        return onednn_product_i8(p->onednn, c, a, b, rows, columns, p->inner);
    onednn_type type = p->from == COLLET_I8   ? ONEDNN_I8_I32
                       : p->to == COLLET_BF16 ? ONEDNN_BF16_BF16
                                              : ONEDNN_BF16_F32;
    return onednn_product_planned(p->onednn, p->device->plans, type, c, a, b, rows, columns,
                                  p->inner);
}

static void part_by_library(const product *p, const gemm_matrix m[MATRICES], int64_t rows,
                            int64_t columns, int32_t thread)
{
    blas_matrix f[MATRICES];
    int left = A, right = B;
    for (int k = 0; k < MATRICES; k++) {
        f[k] = p->form[k];
        f[k].at = m[k].at;
    }
    int64_t height = rows, width = columns;
    if (f[C].transposed) { /* c^T = b^T a^T */
        f[A].transposed = !f[A].transposed;
        f[B].transposed = !f[B].transposed;
        f[C].transposed = 0;
        left = B;
        right = A;
        height = columns;
        width = rows;
    }
    if (p->blas)
        blas_multiply(p->blas, p->type, &f[C], &f[left], &f[right], height, width, p->inner, 1, 0);
    else if (by_onednn(p, &f[C], &f[left], &f[right], height, width))
        return;
    else if (p->from == COLLET_F32)
        part_by_gemm(p, m, rows, columns, thread);
    else
        part_by_narrow(p, m, rows, columns, thread);
}

#define F32(at) (*(float *)(void *)(at))
#define F64(at) (*(double *)(void *)(at))

static void part_tiny(const product *p, const gemm_matrix m[MATRICES], int64_t rows,
                      int64_t columns)
{
    int64_t size = p->wide ? 8 : 4, a_step = m[A].column * size, b_step = m[B].row * size;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            char *a = m[A].at + i * m[A].row * size, *b = m[B].at + j * m[B].column * size;
            char *c = m[C].at + (i * m[C].row + j * m[C].column) * size;
            float sum = 0.0f;
            double wide_sum = 0.0;
            for (int64_t k = 0; k < p->inner; k++, a += a_step, b += b_step) {
                if (p->wide)
                    wide_sum += F64(a) * F64(b);
                else
                    sum += F32(a) * F32(b);
            }
            if (p->wide)
                F64(c) = wide_sum;
            else
                F32(c) = sum;
        }
    }
}

static void run_part(const product *p, const gemm_matrix m[MATRICES], int64_t rows, int64_t columns,
                     int32_t thread)
{
    switch (p->strategy) {
    case BY_SMALL:
        p->device->level->small->product[p->wide](&m[C], &m[A], &m[B], rows, columns, p->inner);
        break;
    case BY_TINY:
        part_tiny(p, m, rows, columns);
        break;
    case BY_ONEDNN:
    case BY_BLAS:
        part_by_library(p, m, rows, columns, thread);
        break;
    case BY_GEMM:
        part_by_gemm(p, m, rows, columns, thread);
        break;
    case BY_NARROW:
        part_by_narrow(p, m, rows, columns, thread);
        break;
    case BY_DOTS:
        part_by_dots(p, m, rows, columns);
        break;
    }
}

/* A part of a symmetric product, on the diagonal or below it, and its mirror image on the other side. `c` is the
 * product. */
static void run_mirrored(const product *p, const gemm_matrix *c, const gemm_matrix m[MATRICES],
                         int64_t i, int64_t j, int32_t thread)
{
    int64_t rows = min_i64(p->rows - i, p->part_rows);
    int64_t columns = min_i64(p->columns - j, p->part_columns);
    if (i == j && p->strategy == BY_BLAS && p->type < BLAS_C64) {
        blas_matrix square = p->form[C], factor = p->form[A];
        square.at = m[C].at;
        factor.at = m[A].at;
        blas_square(p->blas, p->type, &square, &factor, rows, p->inner, 1, 0);
    } else {
        run_part(p, m, rows, columns, thread);
    }
    symmetric_mirror(p->device->level->move, c, __builtin_ctzll((uint64_t)p->batch.size[C]), i, j,
                     rows, columns);
}

static TEAM_BODY(run_parts)
{
    const product *p = argument;
    batch_place place;
    int64_t part = begin % p->parts;
    batch_go_to(&p->batch, &place, begin / p->parts);
    for (int64_t item = begin; item < end; item++) {
        int64_t i = part / p->parts_across * p->part_rows;
        int64_t j = part % p->parts_across * p->part_columns;
        gemm_matrix m[MATRICES];
        for (int k = 0; k < MATRICES; k++) {
            int64_t row = k == B ? 0 : i, column = k == A ? 0 : j;
            m[k] = p->m[k];
            m[k].at =
                place.at[k] + (row * p->m[k].row + column * p->m[k].column) * p->batch.size[k];
        }
        const gemm_matrix c = {place.at[C], p->m[C].row, p->m[C].column};
        if (p->symmetric && i >= j)
            run_mirrored(p, &c, m, i, j, thread);
        else if (!p->symmetric)
            run_part(p, m, min_i64(p->rows - i, p->part_rows),
                     min_i64(p->columns - j, p->part_columns), thread);
        if (++part == p->parts) {
            part = 0;
            batch_go_on(&p->batch, &place);
        }
    }
}

/* ---- oneDNN ---------------------------------------------------------------------------------- */

/* Between onednn_enter and onednn_leave the library uses only the calling thread. */
static TEAM_BODY(run_parts_by_onednn)
{
    int before = onednn_enter();
    run_parts(argument, thread, begin, end);
    onednn_leave(before);
}

/* A search for subnormal elements in all matrices of a factor: its rows, or columns if transposed.
 */
typedef struct search {
    const product *p;
    int factor; /* A or B */
    int64_t rows, length;
    _Atomic int32_t found;
} search;

/* Rows begin .. end-1, counted over all products of the batch. */
static TEAM_BODY(search_rows)
{
    search *s = argument;
    const product *p = s->p;
    batch_place place;
    batch_go_to(&p->batch, &place, begin / s->rows);
    for (int64_t item = begin; item < end; item++) {
        const uint16_t *first = (const uint16_t *)(const void *)place.at[s->factor];
        int64_t row = item % s->rows;
        if (p->device->narrow->any_subnormal_bf16(first + row * p->form[s->factor].stride,
                                                  s->length))
            atomic_store_explicit(&s->found, 1, memory_order_relaxed);
        if (row == s->rows - 1)
            batch_go_on(&p->batch, &place);
    }
}

/* `height` x `width` is the shape of the factor. */
static int has_subnormals(const product *p, int factor, int64_t height, int64_t width)
{
    int transposed = p->form[factor].transposed;
    search s = {.p = p,
                .factor = factor,
                .rows = transposed ? width : height,
                .length = transposed ? height : width};
    team_run(p->device->threads, p->batch.count * s.rows, CHECKED / s.length + 1, search_rows, &s);
    return s.found;
}

/* The processor's bf16 products treat subnormal factors as 0, and oneDNN does not look for such factors. */
static int onednn_fits(const product *p)
{
    return p->from != COLLET_BF16 || (!has_subnormals(p, A, p->rows, p->inner) &&
                                      !has_subnormals(p, B, p->inner, p->columns));
}

/* Whether a product is brief (see team_phase): at most the time of 16 PRODUCT_GRAIN multiplications of f32, some tens
 * of microseconds. A multiplication of f64 counts twice, a multiplication of complex numbers four times. An element
 * that is read or written counts as eight multiplications. */
static int is_brief(const product *p)
{
    double each = (p->wide ? 2.0 : 1.0) * (part_of(p->from) == p->from ? 1.0 : 4.0);
    double elements = (double)p->rows * (double)p->columns + (double)p->rows * (double)p->inner +
                      (double)p->inner * (double)p->columns;
    return !product_is_narrow(p) &&
           (p->work + 8.0 * elements) * each * (double)p->batch.count < 16.0 * PRODUCT_GRAIN;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

ACCEPTS(matmul)
{
    product p = {0};
    product_make(&p, device, call);
    uint64_t piece = product_is_narrow(&p) ? device->narrow->scratch_bytes
                     : p.strategy == BY_SMALL || p.strategy == BY_TINY
                         ? 0
                         : device->level->gemm->scratch_bytes;
    *workspace_bytes = (uint64_t)device->threads * piece;
    return COLLET_OK;
}

KERNEL(matmul)
{
    product p = {.scratch = call->workspace};
    product_make(&p, device, call);
    if (p.batch.count == 0 || p.rows == 0 || p.columns == 0)
        return COLLET_OK;
    if (p.strategy == BY_ONEDNN && !onednn_fits(&p))
        p.strategy = BY_NARROW;
    int64_t whole = p.batch.count * p.parts;
    double work = (double)p.part_rows * (double)p.part_columns * (double)(p.inner + 1);
    int64_t grain = work > (double)PRODUCT_GRAIN ? 1 : (int64_t)((double)PRODUCT_GRAIN / work) + 1;
    int library = p.strategy == BY_ONEDNN || p.strategy == BY_BLAS;
    int32_t callers = (int32_t)min_i64(whole, device->threads);
    blas_use use;
    if (library && !(p.strategy == BY_BLAS ? blas_begin(p.blas, callers) : library_enter())) {
        library = 0;
        p.strategy = product_is_narrow(&p) ? BY_NARROW : BY_GEMM;
    }
    if (p.strategy == BY_BLAS)
        blas_enter(p.blas, &use, 1);
    team_phase phase = {p.strategy == BY_ONEDNN ? run_parts_by_onednn : run_parts, whole, grain,
                        is_brief(&p)};
    team_run_phases(device->threads, &phase, 1, &p);
    if (p.strategy == BY_BLAS) {
        blas_leave(p.blas, &use);
        blas_end(p.blas, callers);
    } else if (library) {
        library_leave();
    }
    return COLLET_OK;
}
