/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/linalg.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "product.h"

#include <limits.h>
#include <math.h>

#include "cpu_openmp/providers/ways.h"
#include "shared/host/util/counts.h"
#include "explain.h"
#include "kernel_small.h"

/* Products of at most this many multiplications are computed element by element. */
#define TINY 512

/* Below this number of multiplications a library's preparation costs more than the product. */
#define LIBRARY_MIN (32 * 32 * 32)

/* Rows and columns of the parts of a product are multiples of this number, so that parts are whole tiles
 * of OpenBLAS. They need not be whole tiles of our kernels (12 or 48): this would make parts unequal, which costs more,
 * an eighth of the time for matrices of 256 x 256. */
#define PART 16

/* From this number of multiplications on, a symmetric product computes only one triangle. */
#define SYMMETRIC_MIN (96 * 96 * 96)

/* Parts of more multiplications than this are divided further, into two or four parts per thread. */
#define PART_WORK 5e7

/* In an OpenBLAS product a cut between columns costs as much as this many cuts between rows: 5 % and 1 % of a product
 * of 1024 x 1024 x 1024, f64. The parts on both sides of a cut pack the same factor: rows of a, with strides, at a cut
 * between columns, and b at a cut between rows. */
#define COLUMN_CUT 6

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

/* Whether b is a^T. As in NumPy, a b then takes half of the time and is exactly symmetric. */
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

/* Divides a symmetric product into at least `parts` squares on and below the diagonal. A library computes a square on
 * the diagonal at once, so one thread needs no more parts. */
static void divide_triangle(product *p, int64_t parts)
{
    int64_t across = p->strategy == BY_BLAS && p->type < BLAS_C64 ? 1 : 4;
    while (across * (across + 1) / 2 < parts)
        across++;
    p->part_rows = p->part_columns = round_up(divide_up(p->rows, across), PART);
    p->parts_across = divide_up(p->columns, p->part_columns);
    p->parts = p->parts_across * p->parts_across;
}

/* Divides each product into one part per thread, and large products into a few parts per thread, so that other threads
 * can take parts of a late thread. Each part packs both of its factors, so parts are nearly square; not for OpenBLAS,
 * where cuts of rows and columns differ in cost (COLUMN_CUT). Many small parts, independent of the number of threads,
 * would cost a tenth of the speed. */
static void divide(product *p)
{
    double work = p->work;
    int64_t parts = p->batch.count > 0 ? divide_up(p->device->threads, p->batch.count) : 1;
    if (work > 2 * PART_WORK * (double)parts && p->device->threads > 1)
        parts *= work > 16 * PART_WORK * (double)parts ? 4 : 2;
    int64_t across = 1;
    if (p->strategy == BY_TINY || work < 2.0 * PRODUCT_GRAIN) /* or nothing to multiply */
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
    double best = 0.0, row_cut = 1.0, column_cut = 1.0;
    if (p->strategy == BY_BLAS)
        *(p->form[C].transposed ? &row_cut : &column_cut) = COLUMN_CUT;
    for (int64_t i = 1; i <= parts; i++) {
        if (parts % i != 0)
            continue;
        double border = column_cut * (double)p->rows * (double)i + row_cut * (double)p->columns * (double)(parts / i);
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

/* If the elements of a column of c are adjacent in memory, and the elements of a row are not, replaces c = a b by
 * c^T = b^T a^T. */
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

int product_is_narrow(const product *p)
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
    if (product_is_narrow(p) || part_of(p->from) != p->from || p->m[C].column != 1 || p->m[B].column != 1 ||
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
    return !product_is_narrow(p) && part_of(p->from) == p->from && !fits_small(p) &&
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
    if (product_is_narrow(p) || fits_small(p))
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
    if (product_is_narrow(p) && !(measured && measured->rate[WAY_ONEDNN] > 0.0 && p->device->plans))
        return WAY_OWN;
    return chosen;
}

/* Opens a library for the first product that uses it, not earlier, because OpenBLAS starts threads. If oneDNN cannot
 * be opened, OpenBLAS is used; if OpenBLAS cannot be opened, our kernels are used. */
static strategy open_way(product *p, way chosen)
{
    if (chosen == WAY_ONEDNN && part_of(p->from) == p->from && !p->wide)
        p->onednn = onednn_open(NULL);
    if (chosen != WAY_OWN && !p->onednn && !product_is_narrow(p))
        p->blas = blas_open(NULL);
    if (p->onednn || p->blas)
        return p->onednn ? BY_ONEDNN : BY_BLAS;
    return product_is_narrow(p) ? BY_NARROW : fits_small(p) ? BY_SMALL : BY_GEMM;
}

/* A product with one row or column reads each element of the other factor only once. Reading it costs less than
 * packing it. */
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

void product_make(product *p, const collet_device *device, const collet_kernel_call *call)
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

/* ---- Explanation ------------------------------------------------------------------------------ */

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
                                                        : "which should compute it",
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
    product_make(&p, device, call);
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
        text_add(out, "the libraries do not support the strides of a matrix");
    else if (p.strategy == BY_TINY || p.strategy == BY_DOTS || p.from == COLLET_F16 ||
             p.work < LIBRARY_MIN)
        text_add(out, "no library is faster for it");
    else if (!explain_missing(&p, out))
        ways_explain(out, device->ways, way_key(&p), side_of(&p), usual_way(&p));
}
