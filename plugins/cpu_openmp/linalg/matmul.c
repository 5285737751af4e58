/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/linalg.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "cpu_openmp/runtime/device.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>

#include "cpu_openmp/providers/blas.h"
#include "cpu_openmp/providers/onednn.h"
#include "cpu_openmp/providers/ways.h"
#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "batch.h"
#include "explain.h"
#include "kernel_gemm.h"
#include "kernel_narrow.h"
#include "kernel_small.h"
#include "symmetric.h"

/* Multiplications up to which a product is computed element by element. */
#define TINY 512

/* Multiplications below which a library's preparation costs more than the product. */
#define LIBRARY_MIN (32 * 32 * 32)

/* Multiplications from which int8 products by oneDNN are faster without a plan. */
#define ONEDNN_I8_LARGE 1e9

/* Minimum number of multiplications per thread. */
#define GRAIN (96 << 10)

/* Minimum number of elements per thread that are checked. */
#define CHECKED (64 << 10)

/*
 * Rows and columns of the parts of a product are multiples of this number, so that parts are whole tiles
 * of OpenBLAS. They need not be whole tiles of our kernels (12 or 48): parts of unequal size would cost
 * more, an eighth of the time at 256.
 */
#define PART 16

/* Multiplications from which a symmetric product computes one triangle. */
#define SYMMETRIC_MIN (96 * 96 * 96)

/* Parts of more multiplications than this are divided further, into two or four parts per thread. */
#define PART_WORK 5e7

enum { C, A, B, MATRICES };

/* How the parts of a product are computed. */
typedef enum strategy {
    BY_SMALL,
    BY_TINY,
    BY_ONEDNN,
    BY_BLAS,
    BY_GEMM,
    BY_NARROW,
    BY_DOTS
} strategy;

/* A batch of products, the strategy for each, and its division into parts. */
typedef struct product {
    const collet_device *device;
    collet_dtype from, to;
    batch batch;
    gemm_matrix m[MATRICES]; /* without addresses; strides in elements */
    int64_t rows, columns, inner;
    double work; /* their product */
    strategy strategy;
    int symmetric; /* the factors are one matrix and its transpose: parts above the diagonal are mirrored */
    int wide;       /* if the real type is f32 or f64: whether it is f64 */
    blas_type type; /* the type for the library and for BY_GEMM */
    onednn *onednn;
    blas *blas;
    blas_matrix form[MATRICES];                           /* for the libraries, without addresses */
    int64_t part_rows, part_columns, parts_across, parts; /* the parts of one product */
    char *scratch;                                        /* one piece per thread */
} product;

/* ---- Operands that BLAS supports ------------------------------------------------------------- */

/* Whether a rows x columns view has adjacent rows or columns that do not overlap; sets its form. */
static int blas_takes(const gemm_matrix *m, int64_t rows, int64_t columns, blas_matrix *form)
{
    int64_t row = rows > 1 ? m->row : columns, column = columns > 1 ? m->column : 1;
    if (rows <= 1 && columns > 1 && m->column != 1)
        row = 1;
    form->transposed = column != 1;
    form->stride = form->transposed ? column : row;
    int64_t other = form->transposed ? row : 1;
    int64_t length = form->transposed ? rows : columns;
    return other == 1 && form->stride >= length && form->stride >= 1 && form->stride <= INT_MAX &&
           rows <= INT_MAX && columns <= INT_MAX;
}

static int fits_blas(product *p)
{
    return p->rows > 0 && p->columns > 0 && p->inner > 0 &&
           blas_takes(&p->m[C], p->rows, p->columns, &p->form[C]) &&
           blas_takes(&p->m[A], p->rows, p->inner, &p->form[A]) &&
           blas_takes(&p->m[B], p->inner, p->columns, &p->form[B]);
}

/* ---- Division -------------------------------------------------------------------------------- */

static int64_t round_up(int64_t x, int64_t unit)
{
    return divide_up(x, unit) * unit;
}

/* Whether b is a^T. Like NumPy's, such a product takes half of the time, and is exactly symmetric. */
static int is_symmetric(const product *p)
{
    const batch *b = &p->batch;
    int same = b->first[A] == b->first[B] && p->m[A].row == p->m[B].column &&
               p->m[A].column == p->m[B].row && p->rows == p->columns && p->m[C].column == 1;
    for (int32_t i = 0; i < b->axes; i++)
        same &= b->strides[A][i] == b->strides[B][i] || b->shape[i] == 1;
    return same && p->work >= SYMMETRIC_MIN &&
           (p->strategy == BY_BLAS || p->strategy == BY_GEMM || p->strategy == BY_ONEDNN);
}

/* Divides a symmetric product into at least `parts` squares on and below the diagonal. A library computes a square on the
 * diagonal at once, so one thread needs no more. */
static void divide_triangle(product *p, int64_t parts)
{
    int64_t across = p->strategy == BY_BLAS && p->type < BLAS_C64 ? 1 : 4;
    while (across * (across + 1) / 2 < parts)
        across++;
    p->part_rows = p->part_columns = round_up(divide_up(p->rows, across), PART);
    p->parts_across = divide_up(p->columns, p->part_columns);
    p->parts = p->parts_across * p->parts_across;
}

/*
 * Divides each product into one nearly square part per thread; large products into a few parts per thread,
 * so that other threads can take parts of a late thread. Each part packs both of its factors; many small
 * parts, independent of the number of threads, would cost a tenth of the speed.
 */
static void divide(product *p)
{
    double work = p->work;
    int64_t parts = p->batch.count > 0 ? divide_up(p->device->threads, p->batch.count) : 1;
    if (work > 2 * PART_WORK * (double)parts)
        parts *= work > 4 * PART_WORK * (double)parts ? 4 : 2;
    int64_t across = 1;
    if (p->strategy == BY_TINY || work < 2.0 * GRAIN) /* or nothing to multiply */
        parts = 1;
    if (p->symmetric) {
        divide_triangle(p, parts);
        return;
    }
    p->part_rows = p->rows;
    p->part_columns = p->columns;
    p->parts = p->parts_across = 1;
    if (parts == 1)
        return;
    double best = 0.0;
    for (int64_t i = 1; i <= parts; i++) {
        if (parts % i != 0)
            continue;
        double border = (double)p->rows * (double)i + (double)p->columns * (double)(parts / i);
        if (best == 0.0 || border < best) {
            best = border;
            across = i;
        }
    }
    p->part_columns = round_up(divide_up(p->columns, across), PART);
    p->part_rows = round_up(divide_up(p->rows, parts / across), PART);
    /* BY_SMALL computes at least columns_min columns; a narrower last part would overlap the part before. */
    if (p->strategy == BY_SMALL && p->columns % p->part_columns > 0 &&
        p->columns % p->part_columns < p->device->level->small->columns_min[p->wide])
        p->part_columns += PART;
    p->parts_across = divide_up(p->columns, p->part_columns);
    p->parts = p->parts_across * divide_up(p->rows, p->part_rows);
}

/* ---- Strategy -------------------------------------------------------------------------------- */

/* Replaces c = a b by c^T = b^T a^T if only the rows of c^T are adjacent in memory. */
static void transpose_product(product *p)
{
    gemm_matrix a = p->m[A], b = p->m[B];
    if (p->m[C].column == 1 || p->m[C].row != 1 || p->rows <= 1)
        return;
    p->m[A] = (gemm_matrix){NULL, b.column, b.row};
    p->m[B] = (gemm_matrix){NULL, a.column, a.row};
    p->m[C] = (gemm_matrix){NULL, p->m[C].column, 1};
    int64_t rows = p->rows, size = p->batch.size[A];
    char *first = p->batch.first[A];
    const int64_t *strides = p->batch.strides[A];
    p->rows = p->columns;
    p->columns = rows;
    p->batch.size[A] = p->batch.size[B];
    p->batch.first[A] = p->batch.first[B];
    p->batch.strides[A] = p->batch.strides[B];
    p->batch.size[B] = size;
    p->batch.first[B] = first;
    p->batch.strides[B] = strides;
}

static int is_narrow(const product *p)
{
    return p->from != COLLET_F32 && p->from != COLLET_F64 && part_of(p->from) == p->from;
}

/* Whether rows of a factor or of the product are a multiple of WAYS_PAGE bytes apart. 0 for types other than f32 and
 * f64, whose measurements do not make this distinction. */
static int has_page_rows(const product *p)
{
    if (p->from != COLLET_F32 && p->from != COLLET_F64)
        return 0;
    for (int k = 0; k < MATRICES; k++) {
        int64_t step = p->m[k].column == 1 ? p->m[k].row : p->m[k].column;
        if (step != 1 && step * p->batch.size[k] % WAYS_PAGE == 0)
            return 1;
    }
    return 0;
}

static int fits_small(const product *p)
{
    if (is_narrow(p) || part_of(p->from) != p->from || p->m[C].column != 1 || p->m[B].column != 1 ||
        !small_fits(p->device->level->small, p->wide, p->rows, p->columns, p->inner))
        return 0;
    if (p->work <= SMALL_PRODUCT)
        return 1;
    /* The kernel reads b again for every few rows of a, so rows of b have to be near each other. */
    int near = p->columns <= SMALL_THIN ? p->m[B].row <= 4 * SMALL_THIN : !has_page_rows(p);
    return near && p->m[A].column == 1;
}

static int is_tiny(const product *p)
{
    return !is_narrow(p) && part_of(p->from) == p->from && !fits_small(p) &&
           p->rows * p->columns <= TINY && p->work <= TINY;
}

static double side_of(const product *p)
{
    return cbrt(p->work);
}

static int way_key(const product *p)
{
    return WAY_PRODUCT(ways_type(p->from),
                       ways_form(p->rows, p->columns, p->inner, has_page_rows(p)));
}

/* The default implementation, without measurements. Narrow products never default to oneDNN: measuring also checks
 * that its results are right. */
static way usual_way(const product *p)
{
    if (is_narrow(p) || fits_small(p))
        return WAY_OWN;
    return p->from == COLLET_F32 && p->work >= LIBRARY_MIN ? WAY_ONEDNN : WAY_OPENBLAS;
}

static way choose_way(product *p)
{
    const way_point *measured = NULL;
    way chosen = usual_way(p);
    if (!fits_blas(p) || p->from == COLLET_F16)
        return WAY_OWN;
    if (p->work >= LIBRARY_MIN)
        chosen = ways_choose(p->device->ways, way_key(p), side_of(p), chosen, &measured);
    if (is_narrow(p) && !(measured && measured->rate[WAY_ONEDNN] > 0.0 && p->device->plans))
        return WAY_OWN;
    return chosen;
}

/* Opens a library for the first product that uses it, not earlier, because OpenBLAS starts threads. If oneDNN cannot
 * be opened, OpenBLAS is used; if OpenBLAS cannot be opened, our kernels. */
static strategy open_way(product *p, way chosen)
{
    if (chosen == WAY_ONEDNN && part_of(p->from) == p->from && !p->wide)
        p->onednn = onednn_open(NULL);
    if (chosen != WAY_OWN && !p->onednn && !is_narrow(p))
        p->blas = blas_open(NULL);
    if (p->onednn || p->blas)
        return p->onednn ? BY_ONEDNN : BY_BLAS;
    return is_narrow(p) ? BY_NARROW : fits_small(p) ? BY_SMALL : BY_GEMM;
}

/* A product with one row or column reads each element of the other factor only once: that costs
 * less than packing it. */
static int fits_dots(const product *p)
{
    return p->from == COLLET_I8 && (p->columns == 1 || p->rows == 1) && p->m[A].column == 1 &&
           p->m[B].row == 1;
}

static strategy choose(product *p)
{
    if (fits_dots(p))
        return BY_DOTS;
    if (p->work < LIBRARY_MIN && fits_small(p))
        return BY_SMALL;
    if (is_tiny(p))
        return BY_TINY;
    return open_way(p, choose_way(p));
}

static void make_product(product *p, const collet_device *device, const collet_kernel_call *call)
{
    const collet_operand *c = operand_of(call, C), *a = operand_of(call, A);
    int32_t axes = c->ndim - 2;
    p->device = device;
    p->from = a->dtype;
    p->to = c->dtype;
    p->wide = part_of(p->from) == COLLET_F64;
    p->type = (blas_type)(p->wide + (part_of(p->from) == p->from ? 0 : BLAS_C64));
    p->batch = batch_of(call, axes, MATRICES);
    p->rows = c->shape[axes];
    p->columns = c->shape[axes + 1];
    p->inner = a->shape[axes + 1];
    for (uint32_t k = 0; k < MATRICES; k++) {
        const int64_t *strides = operand_of(call, k)->strides + axes;
        p->m[k] = (gemm_matrix){NULL, strides[0], strides[1]};
    }
    transpose_product(p);
    p->work = (double)p->rows * (double)p->columns * (double)p->inner;
    p->strategy = choose(p);
    p->symmetric = is_symmetric(p);
    divide(p);
}

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

/* A part of a symmetric product, on the diagonal or below it, and the part on the other side. `c` is the product. */
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

/* The processor's bf16 products treat subnormal factors as 0, and oneDNN does not check. */
static int onednn_fits(const product *p)
{
    return p->from != COLLET_BF16 || (!has_subnormals(p, A, p->rows, p->inner) &&
                                      !has_subnormals(p, B, p->inner, p->columns));
}

/* Whether a product is brief (see team_phase): at most the time of 16 GRAIN multiplications of f32, some tens of
 * microseconds. A multiplication of f64 counts twice, a complex one four times, an element that is read or written
 * eight times. */
static int is_brief(const product *p)
{
    double each = (p->wide ? 2.0 : 1.0) * (part_of(p->from) == p->from ? 1.0 : 4.0);
    double elements = (double)p->rows * (double)p->columns + (double)p->rows * (double)p->inner +
                      (double)p->inner * (double)p->columns;
    return !is_narrow(p) &&
           (p->work + 8.0 * elements) * each * (double)p->batch.count < 16.0 * GRAIN;
}

/* ---- Kernels --------------------------------------------------------------------------------- */

ACCEPTS(matmul)
{
    product p = {0};
    make_product(&p, device, call);
    uint64_t piece = is_narrow(&p) ? device->narrow->scratch_bytes
                     : p.strategy == BY_SMALL || p.strategy == BY_TINY
                         ? 0
                         : device->level->gemm->scratch_bytes;
    *workspace_bytes = (uint64_t)device->threads * piece;
    return COLLET_OK;
}

KERNEL(matmul)
{
    product p = {.scratch = call->workspace};
    make_product(&p, device, call);
    if (p.batch.count == 0 || p.rows == 0 || p.columns == 0)
        return COLLET_OK;
    if (p.strategy == BY_ONEDNN && !onednn_fits(&p))
        p.strategy = BY_NARROW;
    int64_t whole = p.batch.count * p.parts;
    double work = (double)p.part_rows * (double)p.part_columns * (double)(p.inner + 1);
    int64_t grain = work > (double)GRAIN ? 1 : (int64_t)((double)GRAIN / work) + 1;
    int library = p.strategy == BY_ONEDNN || p.strategy == BY_BLAS;
    int32_t callers = (int32_t)min_i64(whole, device->threads);
    blas_use use;
    if (library && !(p.strategy == BY_BLAS ? blas_begin(p.blas, callers) : library_enter())) {
        library = 0;
        p.strategy = is_narrow(&p) ? BY_NARROW : BY_GEMM;
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

/* If the chosen library cannot be used, writes why and returns 1; else returns 0. */
static int explain_missing(product *p, text *out)
{
    const char *reason = NULL;
    int key = way_key(p);
    way chosen = choose_way(p);
    if (chosen == WAY_ONEDNN && !p->onednn)
        (void)onednn_open(&reason);
    if (chosen == WAY_OPENBLAS && !p->blas)
        (void)blas_open(&reason);
    if (reason)
        text_add(out, "%s, %s, is not used: %s", openmp_ways.names[chosen],
                 p->device->ways->forced[key] == chosen ? "chosen by the setting cpu_openmp.ways"
                                                        : "which is the way for it",
                 reason);
    else if (chosen == WAY_OWN && p->device->ways->forced[key] == WAY_ONEDNN)
        text_add(out, "onednn, chosen by the setting cpu_openmp.ways, is used for this type only "
                      "where it was measured");
    else
        return 0;
    return 1;
}

void explain_matmul(const collet_device *device, const collet_kernel_call *call, text *out)
{
    product p = {0};
    make_product(&p, device, call);
    if (p.onednn || p.blas)
        explain_library(out, p.blas, p.onednn);
    else
        text_add(out, p.strategy == BY_SMALL  ? "the own kernel for small or thin products"
                      : p.strategy == BY_TINY ? "element by element"
                                              : "own kernels");
    if (p.parts > 1)
        text_add(out, ", %lld parts of %lld x %lld", (long long)p.parts, (long long)p.part_rows,
                 (long long)p.part_columns);
    text_add(out, "; ");
    if (!fits_blas(&p) && p.strategy == BY_GEMM)
        text_add(out, "the strides of a matrix are none that the libraries support");
    else if (p.strategy == BY_TINY || p.strategy == BY_DOTS || p.from == COLLET_F16 ||
             p.work < LIBRARY_MIN)
        text_add(out, "no library is faster for it");
    else if (!explain_missing(&p, out))
        ways_explain(out, device->ways, way_key(&p), side_of(&p), usual_way(&p));
}
