/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ternary_quantize, _pack, _unpack and _dot: rows, or pieces of long rows, divided among threads.
 * Tests: conformance/ternary/ternary.c, conformance/ternary/products.c
 */
#include "cpu_openmp/runtime/device.h"

#include <stdatomic.h>
#include <string.h>

#include "cpu_openmp/array/kernels/kernel_convert.h"
#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "shared/host/ternary/formats.h"
#include "shared/host/util/rows.h"
#include "kernel_ternary.h"
#include "tokens.h"

/* Elements of a piece; elements that are gathered at a time (SCRATCH). Both are whole blocks. */
#define PIECE (64 * TERNARY_BLOCK)
#define SCRATCH (4 * TERNARY_BLOCK)

/* Minimum number of elements, and of blocks of two vectors, per thread. */
#define GRAIN (1 << 15)
#define DOT_GRAIN (1 << 10)

typedef struct rows_plan {
    const ternary_rows *kernels;
    const convert_kernels *convert;
    const collet_operand *codes, *scales, *other; /* `scales` may be NULL; `other` is weights or bytes */
    uint32_t format, mode;
    float threshold;
    int64_t rows, count;   /* `count` elements per row */
    int64_t piece, pieces; /* elements of a piece; pieces of a row */
    double *sums;          /* the sums of pieces */
    float *means;          /* the means of rows */
    _Atomic int64_t found; /* the count for `info` */
} rows_plan;

/* The scale of a row, in an operand that lacks the last axis of the other operands. */
static char *scale_at(const collet_operand *scales, int64_t row)
{
    return cpu_at(scales) + ternary_offset(scales, scales->ndim, row);
}

static char *row_at(const collet_operand *o, int64_t row)
{
    return cpu_at(o) + ternary_offset(o, o->ndim - 1, row);
}

/* `idle`: all outputs are empty; the number of rows might overflow, so p->rows becomes 0. */
static void begin_plan(rows_plan *p, const collet_device *device, const collet_operand *codes,
                       const collet_operand *scales, const collet_operand *other, int idle)
{
    p->kernels = device->level->ternary_rows;
    p->convert = device->level->convert;
    p->codes = codes;
    p->scales = operand_present(scales) ? scales : NULL;
    p->other = other;
    p->rows = !idle;
    for (int32_t i = 0; i + 1 < codes->ndim && !idle; i++)
        p->rows *= codes->shape[i];
    p->count = codes->shape[codes->ndim - 1];
    p->piece = PIECE;
}

/* Runs `body` for all pieces; an empty row has one piece, which computes its scale. */
static void run_pieces(rows_plan *p, const collet_device *device, team_body body)
{
    int64_t work = min_i64(p->count, p->piece) + 1;
    team_run(device->threads, p->rows * p->pieces, GRAIN / work + 1, body, p);
}

static void divide(rows_plan *p)
{
    p->pieces = p->count > p->piece ? divide_up(p->count, p->piece) : 1;
}

static void store_info(rows_plan *p, const collet_operand *info)
{
    int32_t found = (int32_t)min_i64(atomic_load(&p->found), INT32_MAX);
    memcpy(cpu_at(info), &found, sizeof found);
}

/* ---- quantize -------------------------------------------------------------------------------- */

/* Weights of f64 are processed as f64, all other weights as f32. */
typedef union numbers {
    float f32[SCRATCH];
    double f64[SCRATCH];
} numbers;

typedef struct run_of_weights {
    const char *at;
    int64_t step;
    collet_dtype dtype;
} run_of_weights;

/* Returns n numbers, from element `first` on, as adjacent f32 or f64: in place if possible, else converted to
 * `scratch`; then n must be at most SCRATCH. */
static const void *adjacent(const rows_plan *p, const run_of_weights *w, int64_t first, int64_t n,
                            numbers *scratch)
{
    const char *at = w->at + first * w->step;
    int64_t size = (int64_t)cpu_dtype_size(w->dtype);
    collet_dtype to = w->dtype == COLLET_F64 ? COLLET_F64 : COLLET_F32;
    if (w->dtype == to && w->step == size)
        return at;
    convert_run run = p->convert->run[to][w->dtype];
    if (run && w->step == size)
        run(scratch, at, n);
    else
        cpu_convert((char *)scratch, to, to == COLLET_F64 ? 8 : 4, at, w->dtype, w->step, n);
    return scratch;
}

static run_of_weights weights_of(const rows_plan *p, int64_t row)
{
    return (run_of_weights){row_at(p->other, row), cpu_last_step(p->other), p->other->dtype};
}

static double sum_magnitudes(const rows_plan *p, const run_of_weights *w, int64_t first,
                             int64_t count)
{
    numbers scratch;
    double sum = 0;
    for (int64_t i = 0; i < count; i += SCRATCH) {
        int64_t n = min_i64(count - i, SCRATCH);
        sum += p->kernels->magnitudes[w->dtype == COLLET_F64](
            adjacent(p, w, first + i, n, &scratch), n);
    }
    return sum;
}

static int64_t make_codes(const rows_plan *p, const run_of_weights *w, int64_t row, int64_t first,
                          int64_t count, float threshold)
{
    int64_t step = cpu_last_step(p->codes), nonfinite = 0;
    char *out = row_at(p->codes, row) + first * step;
    int8_t codes[SCRATCH];
    numbers scratch;
    for (int64_t i = 0; i < count; i += SCRATCH) {
        int64_t n = min_i64(count - i, SCRATCH);
        int8_t *to = step == 1 ? (int8_t *)out + i : codes;
        nonfinite += p->kernels->codes[w->dtype == COLLET_F64](
            to, adjacent(p, w, first + i, n, &scratch), (double)threshold, n);
        if (to == codes)
            cpu_move(out + i * step, step, (const char *)codes, 1, 1, n);
    }
    return nonfinite;
}

static void store_scale(const rows_plan *p, int64_t row, float scale)
{
    if (p->scales)
        memcpy(scale_at(p->scales, row), &scale, sizeof scale);
}

static float mean_of(const rows_plan *p, double sum)
{
    return p->count ? (float)(sum / (double)p->count) : 0.0f;
}

static TEAM_BODY(sum_pieces)
{
    rows_plan *p = argument;
    for (int64_t item = begin; item < end; item++) {
        run_of_weights w = weights_of(p, item / p->pieces);
        int64_t first = item % p->pieces * p->piece;
        p->sums[item] = sum_magnitudes(p, &w, first, min_i64(p->count - first, p->piece));
    }
}

static void sum_rows(rows_plan *p)
{
    for (int64_t row = 0; row < p->rows; row++) {
        double sum = 0;
        for (int64_t i = 0; i < p->pieces; i++)
            sum += p->sums[row * p->pieces + i];
        p->means[row] = mean_of(p, sum);
    }
}

static TEAM_BODY(quantize_pieces)
{
    rows_plan *p = argument;
    int64_t nonfinite = 0;
    for (int64_t item = begin; item < end; item++) {
        int64_t row = item / p->pieces, piece = item % p->pieces, first = piece * p->piece;
        int64_t n = min_i64(p->count - first, p->piece);
        run_of_weights w = weights_of(p, row);
        float scale = 1.0f, threshold = p->threshold;
        if (p->mode == COLLET_TERNARY_ABSMEAN) {
            scale = p->pieces > 1 ? p->means[row] : mean_of(p, sum_magnitudes(p, &w, 0, n));
            threshold = scale / 2;
        }
        nonfinite += make_codes(p, &w, row, first, n, threshold);
        if (piece == 0)
            store_scale(p, row, scale);
    }
    atomic_fetch_add_explicit(&p->found, nonfinite, memory_order_relaxed);
}

static void plan_quantize(rows_plan *p, const collet_device *device, const collet_kernel_call *call)
{
    const collet_ternary_quantize_params *params = call->params;
    const collet_operand *codes = operand_of(call, 0), *scales = operand_of(call, 1);
    begin_plan(p, device, codes, scales, operand_of(call, 3),
               operand_is_empty(codes) && operand_is_empty(scales));
    p->mode = params->mode;
    p->threshold = params->threshold;
    divide(p);
}

/* Whether rows are read twice. Long rows are read first for the sums of their pieces, which give the mean, and then
 * for the codes. */
static int has_sums(const rows_plan *p)
{
    return p->mode == COLLET_TERNARY_ABSMEAN && p->pieces > 1;
}

ACCEPTS(ternary_quantize)
{
    rows_plan p = {.found = 0};
    plan_quantize(&p, device, call);
    *workspace_bytes =
        has_sums(&p) ? (uint64_t)p.rows * ((uint64_t)p.pieces * sizeof(double) + sizeof(float)) : 0;
    return COLLET_OK;
}

KERNEL(ternary_quantize)
{
    rows_plan p = {.sums = call->workspace};
    plan_quantize(&p, device, call);
    if (has_sums(&p)) {
        p.means = (float *)(void *)(p.sums + p.rows * p.pieces);
        run_pieces(&p, device, sum_pieces);
        sum_rows(&p);
    }
    run_pieces(&p, device, quantize_pieces);
    store_info(&p, operand_of(call, 2));
    return COLLET_OK;
}

/* ---- pack, unpack ---------------------------------------------------------------------------- */

/* Bytes of 256 weights; 0: a row cannot be packed piece by piece. */
static int64_t block_bytes(uint32_t format)
{
    static const int64_t bytes[COLLET_TERNARY_FORMATS] = {
        [COLLET_TERNARY_T2] = CPU_T2_BYTES,
        [COLLET_TERNARY_ROTOR] = 64,
        [COLLET_TERNARY_TQ2_0] = 66,
        [COLLET_TERNARY_TQ1_0] = 54,
    };
    return bytes[format];
}

static void plan_format(rows_plan *p, const collet_kernel_call *call)
{
    const collet_ternary_format_params *params = call->params;
    p->format = params->format;
    if (!block_bytes(p->format))
        p->piece = INT64_MAX;
    divide(p);
}

/* Packs codes as t2; pads the last block. */
static int64_t pack_t2(const rows_plan *p, uint8_t *bytes, const char *codes, int64_t step,
                       int64_t count)
{
    int8_t scratch[SCRATCH];
    int64_t wrong = 0, whole = step == 1 ? count / TERNARY_BLOCK : 0;
    wrong += p->kernels->pack(bytes, (const int8_t *)codes, whole);
    for (int64_t i = whole * TERNARY_BLOCK; i < count; i += SCRATCH) {
        int64_t n = min_i64(count - i, SCRATCH), blocks = divide_up(n, TERNARY_BLOCK);
        cpu_move((char *)scratch, 1, codes + i * step, step, 1, n);
        memset(scratch + n, 0, (size_t)(blocks * TERNARY_BLOCK - n));
        wrong += p->kernels->pack(bytes + i / TERNARY_BLOCK * TERNARY_BLOCK_BYTES, scratch, blocks);
    }
    return wrong;
}

static TEAM_BODY(pack_pieces)
{
    rows_plan *p = argument;
    int64_t wrong = 0, step = cpu_last_step(p->codes);
    for (int64_t item = begin; item < end; item++) {
        int64_t row = item / p->pieces, first = item % p->pieces * p->piece;
        int64_t n = min_i64(p->count - first, p->piece);
        const char *codes = row_at(p->codes, row) + first * step;
        uint8_t *bytes =
            (uint8_t *)row_at(p->other, row) + first / TERNARY_BLOCK * block_bytes(p->format);
        float scale = 1.0f;
        if (p->scales)
            memcpy(&scale, scale_at(p->scales, row), sizeof scale);
        if (p->format == COLLET_TERNARY_T2)
            wrong += pack_t2(p, bytes, codes, step, n);
        else
            wrong += cpu_ternary_pack(p->format, bytes, (const int8_t *)codes, step, n, scale);
    }
    atomic_fetch_add_explicit(&p->found, wrong, memory_order_relaxed);
}

KERNEL(ternary_pack)
{
    rows_plan p = {.found = 0};
    const collet_operand *bytes = operand_of(call, 0);
    begin_plan(&p, device, operand_of(call, 2), operand_of(call, 3), bytes,
               operand_is_empty(bytes));
    plan_format(&p, call);
    run_pieces(&p, device, pack_pieces);
    store_info(&p, operand_of(call, 1));
    return COLLET_OK;
}

/* t2 to codes. */
static int64_t unpack_t2(const rows_plan *p, char *codes, int64_t step, int64_t count,
                         const uint8_t *bytes)
{
    int8_t scratch[SCRATCH];
    int64_t whole = step == 1 ? count / TERNARY_BLOCK : 0;
    int64_t wrong = p->kernels->unpack((int8_t *)codes, bytes, whole), i = whole * TERNARY_BLOCK;
    for (; i + TERNARY_BLOCK <= count; i += SCRATCH) {
        int64_t n = min_i64(count - i, SCRATCH) / TERNARY_BLOCK * TERNARY_BLOCK;
        wrong += p->kernels->unpack(scratch, bytes + i / TERNARY_BLOCK * TERNARY_BLOCK_BYTES,
                                    n / TERNARY_BLOCK);
        cpu_move(codes + i * step, step, (const char *)scratch, 1, 1, n);
    }
    /* The last block may hold padding, which must not be checked as weights. */
    i = count / TERNARY_BLOCK * TERNARY_BLOCK;
    if (i < count)
        wrong += cpu_ternary_unpack(COLLET_TERNARY_T2, (int8_t *)codes + i * step, step, count - i,
                                    bytes + i / TERNARY_BLOCK * TERNARY_BLOCK_BYTES);
    return wrong;
}

static void unpack_scales(const rows_plan *p, int64_t row, const uint8_t *bytes, int64_t first,
                          int64_t count)
{
    int64_t step = cpu_last_step(p->scales);
    char *out = row_at(p->scales, row) + first * step;
    for (int64_t i = 0; i < count; i++) {
        float scale = cpu_ternary_block_scale(p->format, bytes, i);
        memcpy(out + i * step, &scale, sizeof scale);
    }
}

static TEAM_BODY(unpack_pieces)
{
    rows_plan *p = argument;
    int64_t wrong = 0, step = cpu_last_step(p->codes);
    for (int64_t item = begin; item < end; item++) {
        int64_t row = item / p->pieces, first = item % p->pieces * p->piece;
        int64_t n = min_i64(p->count - first, p->piece);
        char *codes = row_at(p->codes, row) + first * step;
        const uint8_t *bytes =
            (const uint8_t *)row_at(p->other, row) + first / TERNARY_BLOCK * block_bytes(p->format);
        if (p->format == COLLET_TERNARY_T2)
            wrong += unpack_t2(p, codes, step, n, bytes);
        else
            wrong += cpu_ternary_unpack(p->format, (int8_t *)codes, step, n, bytes);
        if (p->scales)
            unpack_scales(p, row, bytes, first / TERNARY_BLOCK, n / TERNARY_BLOCK);
    }
    atomic_fetch_add_explicit(&p->found, wrong, memory_order_relaxed);
}

KERNEL(ternary_unpack)
{
    rows_plan p = {.found = 0};
    const collet_operand *codes = operand_of(call, 0), *scales = operand_of(call, 1);
    begin_plan(&p, device, codes, scales, operand_of(call, 3),
               operand_is_empty(codes) && operand_is_empty(scales));
    plan_format(&p, call);
    run_pieces(&p, device, unpack_pieces);
    store_info(&p, operand_of(call, 2));
    return COLLET_OK;
}

/* ---- dot ------------------------------------------------------------------------------------- */

typedef struct dot_plan {
    const ternary_products *kernels;
    const uint8_t *a, *b;
    _Atomic int64_t sum;
} dot_plan;

static TEAM_BODY(dot_part)
{
    dot_plan *p = argument;
    int64_t first = begin * TERNARY_BLOCK_BYTES;
    int64_t sum = p->kernels->dot(p->a + first, p->b + first, end - begin);
    atomic_fetch_add_explicit(&p->sum, sum, memory_order_relaxed);
}

KERNEL(ternary_dot)
{
    const collet_operand *a = operand_of(call, 1), *b = operand_of(call, 2);
    dot_plan p = {.kernels = device->ternary,
                  .a = (const uint8_t *)cpu_at(a),
                  .b = (const uint8_t *)cpu_at(b)};
    team_run(device->threads, a->shape[0] / TERNARY_BLOCK_BYTES, DOT_GRAIN, dot_part, &p);
    int32_t sum = (int32_t)p.sum;
    memcpy(cpu_at(operand_of(call, 0)), &sum, sizeof sum);
    return COLLET_OK;
}
