/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <limits.h>
#include <stdatomic.h>

#include "../cpu/rows.h"
#include "blas.h"
#include "onednn.h"
#include "team.h"

/* Multiplications below which neither a BLAS call nor our blocked kernel pays for its preparation.
 */
#define TINY 512

/* Multiplications below which oneDNN's preparation costs more than OpenBLAS's. */
#define SMALL (32 * 32 * 32)

/* Multiplications that a thread should have to itself. */
#define GRAIN (256 << 10)

/* Rows and columns of the parts of a product are multiples of this: whole tiles of either kernel.
 */
#define PART 48

enum { C, A, B, MATRICES };

/* A batch of products, the way in which each is computed, and its division into parts. */
typedef struct product {
    const collet_device *device;
    const collet_operand *o[MATRICES];
    gemm_matrix m[MATRICES]; /* of the first product; strides in elements */
    int64_t size;            /* of an element */
    int wide;
    int32_t batch_axes;
    int64_t batch;
    int64_t rows, columns, inner;
    onednn *onednn; /* it computes this; NULL: not */
    blas *blas;     /* it does; both NULL: our own kernel */
    _Atomic int32_t *declined;
    blas_matrix form[MATRICES];                           /* for the libraries, without addresses */
    int64_t part_rows, part_columns, parts_across, parts; /* of one product */
    char *scratch;                                        /* one piece a thread */
} product;

/* ---- What BLAS takes ------------------------------------------------------------------------- */

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

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static int64_t round_up(int64_t x, int64_t unit)
{
    return divide_up(x, unit) * unit;
}

/*
 * Cuts each product into as many parts as it takes to give every thread one, nearly square ones.
 * Parts by the extents alone would make OpenBLAS round alike on any number of threads, and cost a
 * tenth of the speed, because each copies both of its sides for itself.
 */
static void divide(product *p)
{
    int64_t wanted = p->batch > 0 ? divide_up(p->device->threads, p->batch) : 1, across = 1;
    p->part_rows = p->rows;
    p->part_columns = p->columns;
    double best = 0.0;
    for (int64_t i = 1; i <= wanted; i++) {
        if (wanted % i != 0)
            continue;
        double border = (double)p->rows * (double)i + (double)p->columns * (double)(wanted / i);
        if (best == 0.0 || border < best) {
            best = border;
            across = i;
        }
    }
    if (p->rows > 0 && p->columns > 0) {
        p->part_columns = round_up(divide_up(p->columns, across), PART);
        p->part_rows = round_up(divide_up(p->rows, wanted / across), PART);
        p->parts_across = divide_up(p->columns, p->part_columns);
        p->parts = p->parts_across * divide_up(p->rows, p->part_rows);
    }
}

static int is_tiny(const product *p)
{
    return p->rows * p->columns <= TINY && p->rows * p->columns * p->inner <= TINY;
}

/* Libraries are opened by the first product that can use them: OpenBLAS starts threads that keep
 * cores busy for a while, which programs without a product should not pay for. */
static void pick_library(product *p)
{
    const char *reason;
    double work = (double)p->rows * (double)p->columns * (double)p->inner;
    if (is_tiny(p) || !fits_blas(p))
        return;
    if (!p->wide && (p->device->onednn & CHOICE_ONEDNN_F32) && work >= SMALL)
        p->onednn = onednn_open(&reason);
    if (!p->onednn)
        p->blas = blas_open(&reason);
}

static void make_product(product *p, const collet_device *device, const collet_kernel_call *call)
{
    p->device = device;
    for (uint32_t k = 0; k < MATRICES; k++)
        p->o[k] = cpu_operand(call, k);
    p->wide = p->o[C]->dtype == COLLET_F64;
    p->size = p->wide ? 8 : 4;
    p->batch_axes = p->o[C]->ndim - 2;
    p->batch = 1;
    for (int32_t i = 0; i < p->batch_axes; i++)
        p->batch *= p->o[C]->shape[i];
    p->rows = p->o[C]->shape[p->batch_axes];
    p->columns = p->o[C]->shape[p->batch_axes + 1];
    p->inner = p->o[A]->shape[p->batch_axes + 1];
    for (int k = 0; k < MATRICES; k++) {
        const int64_t *strides = p->o[k]->strides + p->batch_axes;
        p->m[k] = (gemm_matrix){cpu_at(p->o[k]), strides[0], strides[1]};
    }
    pick_library(p);
    divide(p);
}

/* ---- One part -------------------------------------------------------------------------------- */

static char *element(const product *p, const gemm_matrix *m, int64_t i, int64_t j)
{
    return m->at + (i * m->row + j * m->column) * p->size;
}

static void part_by_library(const product *p, const gemm_matrix m[MATRICES], int64_t rows,
                            int64_t columns)
{
    blas_matrix f[MATRICES];
    int left = A, right = B;
    for (int k = 0; k < MATRICES; k++) {
        f[k] = p->form[k];
        f[k].at = m[k].at;
    }
    if (f[C].transposed) { /* c^T = b^T a^T */
        f[A].transposed = !f[A].transposed;
        f[B].transposed = !f[B].transposed;
        f[C].transposed = 0;
        left = B;
        right = A;
        int64_t swapped = rows;
        rows = columns;
        columns = swapped;
    }
    if (p->blas)
        blas_product(p->blas, p->wide, &f[C], &f[left], &f[right], rows, columns, p->inner);
    else if (!onednn_product_f32(p->onednn, &f[C], &f[left], &f[right], rows, columns, p->inner))
        atomic_store(p->declined, 1);
}

static void part_tiny(const product *p, const gemm_matrix m[MATRICES], int64_t rows,
                      int64_t columns)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) {
            const char *a = element(p, &m[A], i, 0), *b = element(p, &m[B], 0, j);
            int64_t a_step = m[A].column * p->size, b_step = m[B].row * p->size;
            float sum = 0.0f;
            double wide_sum = 0.0;
            for (int64_t k = 0; k < p->inner; k++, a += a_step, b += b_step) {
                if (p->wide)
                    wide_sum += *(const double *)(const void *)a * *(const double *)(const void *)b;
                else
                    sum += *(const float *)(const void *)a * *(const float *)(const void *)b;
            }
            if (p->wide)
                *(double *)(void *)element(p, &m[C], i, j) = wide_sum;
            else
                *(float *)(void *)element(p, &m[C], i, j) = sum;
        }
    }
}

/* The matrices of one product of the batch. */
static void find_product(const product *p, int64_t batch, gemm_matrix m[MATRICES])
{
    for (int k = 0; k < MATRICES; k++)
        m[k] = p->m[k];
    for (int32_t axis = p->batch_axes - 1; axis >= 0; axis--) {
        int64_t index = batch % p->o[C]->shape[axis];
        batch /= p->o[C]->shape[axis];
        for (int k = 0; k < MATRICES; k++)
            m[k].at += index * p->o[k]->strides[axis] * p->size;
    }
}

static void run_parts(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const product *p = argument;
    const gemm_kernels *own = p->device->level->gemm;
    for (int64_t item = begin; item < end; item++) {
        int64_t batch = item / p->parts, part = item % p->parts;
        int64_t i = part / p->parts_across * p->part_rows;
        int64_t j = part % p->parts_across * p->part_columns;
        int64_t rows = p->rows - i < p->part_rows ? p->rows - i : p->part_rows;
        int64_t columns = p->columns - j < p->part_columns ? p->columns - j : p->part_columns;
        gemm_matrix m[MATRICES];
        find_product(p, batch, m);
        for (int k = 0; k < MATRICES; k++)
            m[k].at = element(p, &m[k], k == B ? 0 : i, k == A ? 0 : j);
        if (is_tiny(p))
            part_tiny(p, m, rows, columns);
        else if (p->blas || p->onednn)
            part_by_library(p, m, rows, columns);
        else
            own->product[p->wide](&m[C], &m[A], &m[B], rows, columns, p->inner,
                                  p->scratch + (uint64_t)thread * own->scratch_bytes);
    }
}

WORKSPACE(matmul)
{
    product p = {0};
    make_product(&p, device, call);
    if (p.blas || p.onednn || is_tiny(&p))
        return 0;
    return (uint64_t)device->threads * device->level->gemm->scratch_bytes;
}

/* ---- oneDNN ---------------------------------------------------------------------------------- */

/* Parts for a team; each thread tells the library that it is one. */
static void run_parts_on_one(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    const product *p = argument;
    onednn_use use;
    onednn_enter(p->onednn, &use, 1);
    run_parts(argument, thread, begin, end);
    onednn_leave(p->onednn, &use);
}

/* It divides a product better than we could: its threads share what they copy. */
static void run_whole(const product *p)
{
    double work = (double)p->rows * (double)p->columns * (double)p->inner / GRAIN;
    int32_t threads = p->device->threads;
    onednn_use use;
    onednn_enter(p->onednn, &use, work > threads ? threads : work > 1 ? (int32_t)work : 1);
    for (int64_t batch = 0; batch < p->batch; batch++) {
        gemm_matrix m[MATRICES];
        find_product(p, batch, m);
        part_by_library(p, m, p->rows, p->columns);
    }
    onednn_leave(p->onednn, &use);
}

KERNEL(matmul)
{
    _Atomic int32_t declined = 0;
    product p = {.scratch = call->workspace, .declined = &declined};
    make_product(&p, device, call);
    if (p.batch == 0 || p.rows == 0 || p.columns == 0)
        return COLLET_OK;
    int64_t whole = p.batch * p.parts;
    double work = (double)p.part_rows * (double)p.part_columns * (double)(p.inner + 1);
    int64_t grain = work > (double)GRAIN ? 1 : (int64_t)((double)GRAIN / work) + 1;
    blas_use use;
    if (p.blas)
        blas_enter(p.blas, &use, 1);
    if (p.onednn && p.batch < device->threads)
        run_whole(&p);
    else
        team_run(device->threads, whole, grain, p.onednn ? run_parts_on_one : run_parts, &p);
    if (p.blas)
        blas_leave(p.blas, &use);
    if (declined)
        return device->host->fail(call->err, COLLET_FAILED, "matmul: oneDNN declined the product");
    return COLLET_OK;
}
