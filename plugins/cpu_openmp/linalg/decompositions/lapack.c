/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/linalg/factors.c, tests/host/test_decompositions.c, conformance/linalg/spectra.c */
#include "lapack.h"

#include <limits.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "cpu_openmp/array/kernels/kernel_move.h"
#include "cpu_openmp/runtime/team.h"
#include "kernel_panel.h"
#include "shared/host/linalg/matrices.h"

/* LAPACK counts its scratch in an int. gesdd needs the most: 4 k^2 + 7 k + 64 (m + n) numbers, and for complex
 * matrices 5 k^2 + 5 k and 2 k (m + n) + k. */
static int counts_fit(int64_t m, int64_t n, int parts)
{
    int64_t k = m < n ? m : n;
    return m <= INT_MAX / 256 && n <= INT_MAX / 256 && k <= 20000 &&
           (parts == 1 || 2 * k * (m + n + 1) <= INT_MAX);
}

int lapack_takes(const collet_kernel_call *call)
{
    const collet_operand *a = operand_of(call, call->n_out);
    const collet_operand *last = operand_of(call, call->n_out + call->n_in - 1);
    return counts_fit(operand_extent(a, 1), operand_extent(a, 0),
                      part_of(a->dtype) == a->dtype ? 1 : 2) &&
           operand_extent(last, 0) <= INT_MAX;
}

void lapack_enter(const lapack_job *job, blas_use *use, int32_t threads)
{
    if (job->threads > 1)
        (void)blas_enter(job->library, use, threads);
}

void lapack_leave(const lapack_job *job, blas_use *use)
{
    if (job->threads > 1)
        blas_leave(job->library, use);
}

int lapack_is_regular(const lapack_job *job, double largest)
{
    double limit = job->wide ? 0x1p+400 : 0x1p+50;
    return !isnan(largest) && (largest == 0.0 || (largest < limit && largest > 1.0 / limit));
}

void *lapack_take(lapack_pieces *p, int64_t rows, int64_t columns, uint64_t size)
{
    uint64_t bytes, used = p->used;
    if (__builtin_mul_overflow((uint64_t)rows, (uint64_t)columns, &bytes) ||
        __builtin_mul_overflow(bytes, size, &bytes) || __builtin_add_overflow(bytes, 63, &bytes) ||
        __builtin_add_overflow(used, bytes & ~(uint64_t)63, &p->used)) {
        p->used = UINT64_MAX;
        return NULL;
    }
    return p->base ? p->base + used : NULL;
}

/* Rows that are copied together: whole cache lines of the transposed side. */
#define BAND 64

/* Minimum number of bytes per thread. */
#define GRAIN_BYTES (128 << 10)

dense_view dense_of(const collet_operand *o, int64_t index)
{
    return (dense_view){.at = cpu_matrix_at(o, 2, index),
                        .rows = operand_extent(o, 1),
                        .columns = operand_extent(o, 0),
                        .row = cpu_step(o, o->ndim - 2),
                        .column = cpu_step(o, o->ndim - 1),
                        .dtype = o->dtype};
}

dense_view dense_at(void *at, collet_dtype dtype, int64_t rows, int64_t columns)
{
    int64_t size = (int64_t)cpu_dtype_size(dtype);
    return (dense_view){.at = at,
                        .rows = rows,
                        .columns = columns,
                        .row = columns * size,
                        .column = size,
                        .dtype = dtype};
}

dense_view dense_transposed(dense_view v)
{
    return (dense_view){.at = v.at,
                        .rows = v.columns,
                        .columns = v.rows,
                        .row = v.column,
                        .column = v.row,
                        .dtype = v.dtype};
}

int64_t dense_parts(const dense_view *v)
{
    return part_of(v->dtype) == v->dtype ? 1 : 2;
}

static int is_wide(const dense_view *v)
{
    return part_of(v->dtype) == COLLET_F64;
}

int dense_stride(const dense_view *v)
{
    int64_t size = (int64_t)cpu_dtype_size(v->dtype);
    if (v->rows > INT_MAX || v->columns > INT_MAX || (v->column != size && v->columns > 1))
        return 0;
    if (v->rows <= 1)
        return (int)v->columns;
    int64_t stride = v->row / size;
    return stride >= v->columns && stride <= INT_MAX ? (int)stride : 0;
}

dense_view dense_output(const collet_operand *o, int64_t index)
{
    dense_view view = dense_of(o, index);
    if (!dense_stride(&view))
        view.at = NULL;
    return view;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

typedef struct copying {
    const isa_level *kernels;
    dense_view out, in;
    int64_t size;
    int32_t index;            /* the index of the element size */
    int lower;                /* only the lower triangle */
    int measured;             /* determine the largest magnitude */
    _Atomic uint64_t largest; /* the bits of the largest magnitude; as integers they sort like magnitudes, NaN last */
} copying;

static void copy_band(const copying *c, int64_t first, int64_t last)
{
    char *out = c->out.at + first * c->out.row;
    const char *in = c->in.at + first * c->in.row;
    int64_t columns = c->lower && last < c->out.columns ? last : c->out.columns;
    if (c->out.column == c->size && c->in.row == c->size && c->in.column != c->size) {
        c->kernels->move->transpose[c->index](out, c->out.row, in, c->in.column, columns,
                                              last - first);
        return;
    }
    for (int64_t i = first; i < last; i++, out += c->out.row, in += c->in.row)
        c->kernels->move->row[c->index](out, c->out.column, in, c->in.column, columns);
}

static void measure_band(copying *c, int64_t first, int64_t last)
{
    double largest = 0.0;
    for (int64_t i = first; i < last && !isnan(largest); i++) {
        char *row = c->out.at + i * c->out.row;
        int64_t n = c->lower ? i + 1 : c->out.columns;
        double here = c->kernels->panel->largest[is_wide(&c->out)](row, n * dense_parts(&c->out));
        largest = here <= largest ? largest : here;
        memset(row + n * c->size, 0, (size_t)((c->out.columns - n) * c->size));
    }
    uint64_t bits, most = atomic_load(&c->largest);
    memcpy(&bits, &largest, sizeof bits);
    while (bits > most && !atomic_compare_exchange_weak(&c->largest, &most, bits)) {
    }
}

static TEAM_BODY(copy_bands)
{
    copying *c = argument;
    for (int64_t band = begin; band < end; band++) {
        int64_t first = band * BAND, left = c->out.rows - first;
        int64_t last = first + (left < BAND ? left : BAND);
        copy_band(c, first, last);
        if (c->measured)
            measure_band(c, first, last);
    }
}

/* `begin` and `end` are rows of the output, so that no two threads write to the same cache line. */
static void set_views(copying *c, const collet_device *device, const dense_view *out,
                      const dense_view *in)
{
    c->kernels = device->level;
    c->size = (int64_t)cpu_dtype_size(out->dtype);
    c->index = __builtin_ctz((uint32_t)c->size);
    int transposed = out->row == c->size && out->column != c->size;
    c->out = transposed ? dense_transposed(*out) : *out;
    c->in = transposed ? dense_transposed(*in) : *in;
}

static void copy(copying *c, int32_t threads)
{
    int64_t band_bytes = BAND * c->out.columns * c->size;
    int64_t grain = band_bytes > 0 ? GRAIN_BYTES / band_bytes + 1 : 1;
    team_run(threads, (c->out.rows + BAND - 1) / BAND, grain, copy_bands, c);
}

void dense_copy(const collet_device *device, int32_t threads, const dense_view *out,
                const dense_view *in)
{
    copying c = {0};
    set_views(&c, device, out, in);
    copy(&c, threads);
}

double dense_load(const collet_device *device, int32_t threads, const dense_view *out,
                  const dense_view *in, int lower)
{
    copying c = {.lower = lower, .measured = 1};
    set_views(&c, device, out, in);
    copy(&c, threads);
    uint64_t bits = atomic_load(&c.largest);
    double largest;
    memcpy(&largest, &bits, sizeof largest);
    return largest;
}

/* ---- Signs and zeros ------------------------------------------------------------------------- */

void dense_negate(const collet_device *device, const dense_view *v, int64_t row, int64_t first)
{
    int64_t size = (int64_t)cpu_dtype_size(v->dtype);
    int64_t count = v->columns - first, stretch = v->column == size ? count : 1;
    for (int64_t j = 0; j < count; j += stretch)
        device->level->panel->negate[is_wide(v)](v->at + row * v->row + (first + j) * v->column,
                                                 stretch * dense_parts(v));
}

static void clear(const dense_view *v, int64_t i, int64_t from, int64_t to)
{
    int64_t size = (int64_t)cpu_dtype_size(v->dtype);
    char *at = v->at + i * v->row;
    if (from >= to)
        return;
    if (v->column == size) {
        memset(at + from * size, 0, (size_t)((to - from) * size));
        return;
    }
    for (int64_t j = from; j < to; j++)
        memset(at + j * v->column, 0, (size_t)size);
}

void dense_clear_below(const dense_view *v)
{
    for (int64_t i = 0; i < v->rows; i++)
        clear(v, i, 0, i < v->columns ? i : v->columns);
}

void dense_clear_above(const dense_view *v)
{
    for (int64_t i = 0; i < v->rows; i++)
        clear(v, i, i + 1, v->columns);
}
