/* SPDX-License-Identifier: Apache-2.0 */
/* dot and matvec, by compensated sums in f64. If all operands are f32, sums are in f32 and f64. The
 * division into tiles and chunks depends on the shape alone, and chunks are added in order, so that
 * the result does not depend on the number of threads.
 * Tests: conformance/linalg/vector.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "cpu_openmp/runtime/device.h"

#include <stdlib.h>

#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/counts.h"
#include "cpu_openmp/util/range.h"
#include "cpu_openmp/util/real.h"
#include "shared/host/util/sum.h"
#include "batch.h"
#include "kernel_vector.h"

/* Minimum number of elements per thread. */
#define GRAIN (16 << 10)

/* Elements of a chunk of a row (ROW_CHUNK), and of a chunk of a tile of columns: COLUMN_CHUNK, for large matrices
 * LARGE_COLUMN_CHUNK. Each chunk has its own partial sums. */
#define ROW_CHUNK (64 << 10)
#define COLUMN_CHUNK (128 << 10)
#define LARGE_COLUMN_CHUNK (1 << 20)

/* With this many tiles there is enough parallelism without chunks. */
#define MANY_TILES 64

/* Sums of a tile: they stay in the L2 cache while a matrix is read along its columns. */
#define COLUMN_TILE 4096

/* Sums of a tile of narrow products. Narrow products cost less, so their sums must stay in the L1 cache. */
#define NARROW_TILE 2048

/* Short rows are processed up to ROW_TILE at a time, to amortise overhead. Long rows are processed VECTOR_ROWS at a
 * time, or twice as many. */
#define ROW_TILE 256
#define ROW_TILE_ELEMENTS 2048

/* A vector whose elements are not adjacent is copied if the matrix has at least this many rows. */
#define COPIED_ROWS 4

/* Complex elements that are multiplied at a time. */
#define COMPLEX_BLOCK 512

enum { Y, A, X, VIEWS };

typedef struct vector_plan {
    const vector_kernels *kernels;
    int wide;    /* the factors are f64, or pairs of f64 */
    int to_wide; /* the results are f64, or pairs of f64 */
    int parts;   /* 2: complex */
    int narrow;  /* groups of products are summed in f32, or in f64 if f32 lacks the range */
    batch batch;
    int64_t rows, inner;
    int64_t row[VIEWS], column[VIEWS];      /* strides in bytes */
    enum { ALONG, ACROSS, SHORT } strategy; /* along rows; across rows; across few rows */
    int64_t tile, tiles;                    /* rows of a per tile; tiles per product */
    int64_t chunk, chunks;                  /* elements of a row per chunk; chunks per tile */
    int64_t items;
    double
        *sums; /* 2 x parts x tile for each item, or for each thread if tiles have one chunk */
} vector_plan;

/* The position of an item. */
typedef struct place {
    int64_t chunk, tile;
    batch_place product;
} place;

/* ---- Planning -------------------------------------------------------------------------------- */

/* Whether the narrow kernels may run: f32 factors and results, with adjacent elements where the kernels need them. */
static int is_narrow(const vector_plan *p)
{
    int64_t step = sizeof(float);
    if (p->wide || p->to_wide || p->parts == 2)
        return 0;
    return p->strategy == ACROSS ? p->row[A] == step
                                 : p->column[A] == step && (p->column[X] == step || p->inner == 1);
}

static void divide(vector_plan *p)
{
    p->narrow = is_narrow(p);
    int is_short = p->narrow && p->inner <= ROW_TILE_ELEMENTS;
    int64_t elements = ROW_CHUNK, share = p->rows * p->inner / 16;
    if (p->strategy == ACROSS)
        elements = share > COLUMN_CHUNK ? min_i64(share, LARGE_COLUMN_CHUNK) : COLUMN_CHUNK;
    p->tile = p->narrow ? NARROW_TILE : COLUMN_TILE;
    if (p->strategy == ALONG && p->inner >= ROW_TILE_ELEMENTS / VECTOR_ROWS)
        p->tile = VECTOR_ROWS * (p->parts == 2 ? 4 : is_short ? 2 : 1);
    else if (p->strategy == ALONG)
        p->tile = min_i64(divide_up(ROW_TILE_ELEMENTS, p->inner + 1), ROW_TILE);
    p->tile = p->rows > 0 ? min_i64(p->tile, p->rows) : 1;
    p->tiles = divide_up(p->rows, p->tile);
    p->chunk = p->inner;
    p->chunks = 1;
    int64_t groups = p->batch.count * p->tiles;
    if (groups < MANY_TILES && p->inner > 2 * (elements / p->tile)) {
        p->chunk = elements / p->tile;
        p->chunks = divide_up(p->inner, p->chunk);
    }
    p->items = groups * p->chunks;
}

static void begin_plan(vector_plan *p, const collet_device *device, const collet_kernel_call *call,
                       int32_t batch_axes)
{
    p->kernels = device->level->vector;
    collet_dtype from = operand_of(call, A)->dtype;
    p->to_wide = part_of(operand_of(call, Y)->dtype) == COLLET_F64;
    p->wide = part_of(from) == COLLET_F64;
    p->parts = part_of(from) == from ? 1 : 2;
    p->batch = batch_of(call, batch_axes, VIEWS);
}

static void plan_dot(vector_plan *p, const collet_device *device, const collet_kernel_call *call)
{
    begin_plan(p, device, call, 0);
    p->rows = 1;
    p->inner = operand_of(call, A)->shape[0];
    p->column[A] = cpu_step(operand_of(call, A), 0);
    p->column[X] = cpu_step(operand_of(call, X), 0);
    divide(p);
}

static void plan_matvec(vector_plan *p, const collet_device *device, const collet_kernel_call *call)
{
    const collet_operand *y = operand_of(call, Y), *a = operand_of(call, A);
    int32_t axes = y->ndim - 1;
    begin_plan(p, device, call, axes);
    p->rows = y->shape[axes];
    p->inner = a->shape[axes + 1];
    p->row[Y] = cpu_step(y, axes);
    p->row[A] = cpu_step(a, axes);
    p->column[A] = cpu_step(a, axes + 1);
    p->column[X] = cpu_step(operand_of(call, X), axes);
    if (p->parts == 1 && p->inner <= VECTOR_SHORT)
        p->strategy = SHORT;
    else if (p->parts == 1 && p->rows > 1 && llabs(p->row[A]) < llabs(p->column[A]))
        p->strategy = ACROSS;
    divide(p);
}

static void make_plan(vector_plan *p, const collet_device *device, const collet_kernel_call *call)
{
    if (call->op == COLLET_OP_DOT)
        plan_dot(p, device, call);
    else
        plan_matvec(p, device, call);
}

/* ---- Places ---------------------------------------------------------------------------------- */

static void go_to(const vector_plan *p, place *at, int64_t item)
{
    at->chunk = item % p->chunks;
    at->tile = item / p->chunks % p->tiles;
    batch_go_to(&p->batch, &at->product, item / p->chunks / p->tiles);
}

static void go_on(const vector_plan *p, place *at)
{
    if (++at->chunk < p->chunks)
        return;
    at->chunk = 0;
    if (++at->tile < p->tiles)
        return;
    at->tile = 0;
    batch_go_on(&p->batch, &at->product);
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static int64_t rows_of_tile(const vector_plan *p, int64_t tile)
{
    return min_i64(p->rows - tile * p->tile, p->tile);
}

/* Computes the real (part 0) or imaginary (part 1) part of complex sums as sums of real numbers: (re, im) of a times
 * (re, -im) or (im, re) of x. `held` has room for a block of a row. */
static void sum_part(const vector_plan *p, int part, const char *a, char *held, const char *x,
                     int64_t n, int64_t rows, double *sum, double *lost)
{
    int64_t size = p->wide ? 8 : 4, column = p->column[A];
    char turned[COMPLEX_BLOCK * 2 * sizeof(double)] __attribute__((aligned(64)));
    for (int64_t k = 0; k < n; k++) {
        const char *from = x + k * p->column[X];
        double other = real_load(from + (1 - part) * size, p->wide);
        real_store(turned + 2 * k * size, p->wide, real_load(from + part * size, p->wide));
        real_store(turned + (2 * k + 1) * size, p->wide, part ? other : -other);
    }
    if (column == 2 * size) {
        p->kernels->rows[p->wide](sum, lost, a, p->row[A], size, turned, size, rows, 2 * n);
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        cpu_move(held, 2 * size, a + i * p->row[A], column, (uint64_t)(2 * size), n);
        p->kernels->rows[p->wide](sum + i, lost + i, held, 0, size, turned, size, 1, 2 * n);
    }
}

static void sum_complex(const vector_plan *p, const char *a, const char *x, int64_t n, int64_t rows,
                        double *sum, double *lost)
{
    char held[COMPLEX_BLOCK * 2 * sizeof(double)] __attribute__((aligned(64)));
    for (int64_t k = 0; k < n; k += COMPLEX_BLOCK)
        for (int part = 0; part < 2; part++)
            sum_part(p, part, a + k * p->column[A], held, x + k * p->column[X],
                     min_i64(n - k, COMPLEX_BLOCK), rows, sum + part * p->tile,
                     lost + part * p->tile);
}

static void clear(const vector_plan *p, double *sum, double *lost)
{
    for (int64_t i = 0; i < p->parts * p->tile; i++)
        sum[i] = lost[i] = 0.0;
}

/* Returns 0 if a number left the range of f32, else 1. */
static int sum_narrow(const vector_plan *p, const char *a, const char *x, int64_t n, int64_t rows,
                      double *sum, double *lost)
{
    clear(p, sum, lost);
    range_begin();
    if (p->strategy == ACROSS)
        p->kernels->narrow_columns(sum, lost, a, p->column[A], x, p->column[X], n, rows);
    else
        p->kernels->narrow_rows(sum, a, p->row[A], x, rows, n);
    return !range_was_left();
}

static void sum_item(const vector_plan *p, const place *at, double *sum, double *lost)
{
    int64_t k = at->chunk * p->chunk, n = min_i64(p->inner - k, p->chunk);
    int64_t rows = rows_of_tile(p, at->tile);
    int64_t row = p->row[A], column = p->column[A], x_step = p->column[X];
    const char *a = at->product.at[A] + at->tile * p->tile * row + k * column;
    const char *x = at->product.at[X] + k * x_step;
    if (p->narrow && sum_narrow(p, a, x, n, rows, sum, lost))
        return;
    if (p->strategy == SHORT) {
        p->kernels->short_columns[p->wide](sum, a, column, row, x, x_step, n, rows);
        return;
    }
    clear(p, sum, lost);
    if (p->parts == 2) {
        sum_complex(p, a, x, n, rows, sum, lost);
        return;
    }
    if (p->strategy == ACROSS) {
        p->kernels->columns[p->wide](sum, lost, a, column, row, x, x_step, n, rows);
        return;
    }
    p->kernels->rows[p->wide](sum, lost, a, row, column, x, x_step, rows, n);
}

/* The address of result i of a tile whose first result is at `out`. All imaginary parts follow all real parts. */
static char *element_at(const vector_plan *p, char *out, int64_t rows, int64_t i)
{
    return out + i % rows * p->row[Y] + i / rows * (p->to_wide ? 8 : 4);
}

static TEAM_BODY(run_items)
{
    const vector_plan *p = argument;
    place at;
    go_to(p, &at, begin);
    for (int64_t item = begin; item < end; item++, go_on(p, &at)) {
        double *sum = p->sums + 2 * p->parts * p->tile * (p->chunks > 1 ? item : thread);
        double *lost = sum + p->parts * p->tile;
        sum_item(p, &at, sum, lost);
        if (p->chunks > 1)
            continue;
        char *out = at.product.at[Y] + at.tile * p->tile * p->row[Y];
        int64_t rows = rows_of_tile(p, at.tile);
        if (p->narrow && p->strategy != ACROSS && p->row[Y] == sizeof(float)) {
            for (int64_t i = 0; i < rows; i++)
                ((float *)(void *)out)[i] = (float)sum[i];
            continue;
        }
        for (int64_t i = 0; p->strategy == SHORT && i < rows; i++)
            real_store(out + i * p->row[Y], p->to_wide, sum[i]);
        for (int64_t i = 0; p->strategy != SHORT && i < p->parts * rows; i++) {
            int64_t k = i / rows * p->tile + i % rows;
            real_store(element_at(p, out, rows, i), p->to_wide,
                       cpu_total(&(cpu_sum){sum[k], lost[k]}));
        }
    }
}

/* Adds the other chunks of a tile to its first chunk. Results of f32 need no compensation of f64 sums. */
static void join_narrow(const vector_plan *p, double *first, char *out, int64_t rows)
{
    for (int64_t c = 1; c < p->chunks; c++) {
        const double *next = first + 2 * p->tile * c;
        for (int64_t i = 0; i < 2 * p->tile; i++)
            first[i] += next[i];
    }
    for (int64_t i = 0; i < rows; i++)
        real_store(out + i * p->row[Y], p->to_wide,
                   cpu_total(&(cpu_sum){first[i], first[p->tile + i]}));
}

/* Adds the chunks of tiles begin .. end-1. */
static TEAM_BODY(finish_tiles)
{
    const vector_plan *p = argument;
    for (int64_t tile = begin; tile < end; tile++) {
        int64_t piece = p->parts * p->tile;
        const double *first = p->sums + 2 * piece * p->chunks * tile;
        place at;
        go_to(p, &at, tile * p->chunks);
        char *out = at.product.at[Y] + at.tile * p->tile * p->row[Y];
        int64_t rows = rows_of_tile(p, at.tile);
        if (p->narrow) {
            join_narrow(p, p->sums + 2 * piece * p->chunks * tile, out, rows);
            continue;
        }
        for (int64_t i = 0; i < p->parts * rows; i++) {
            const double *sum = first + i / rows * p->tile + i % rows;
            cpu_sum total = {0};
            for (int64_t c = 0; c < p->chunks; c++) {
                cpu_add(&total, sum[2 * piece * c]);
                total.lost += sum[2 * piece * c + piece];
            }
            real_store(element_at(p, out, rows, i), p->to_wide, cpu_total(&total));
        }
    }
}

/* ---- Kernels --------------------------------------------------------------------------------- */

static uint64_t scratch_bytes(const collet_device *device, const vector_plan *p)
{
    int64_t pieces = p->chunks > 1 ? p->items : device->threads;
    return (uint64_t)(pieces * p->parts * p->tile) * 2 * sizeof(double);
}

static collet_status run(const collet_device *device, vector_plan *p)
{
    int64_t work = p->tile * (p->chunk + 1);
    if (p->items == 0)
        return COLLET_OK;
    team_phase phase = {run_items, p->items, work >= GRAIN ? 1 : GRAIN / work,
                        team_is_brief(p->items * work, GRAIN)};
    team_run_phases(device->threads, &phase, 1, p);
    if (p->chunks > 1)
        team_run(device->threads, p->items / p->chunks, divide_up(GRAIN, p->tile * p->chunks),
                 finish_tiles, p);
    return COLLET_OK;
}

/* Short dot products of real numbers run without a plan, because planning would cost more than the product. */
static int is_short(const collet_kernel_call *call)
{
    const collet_operand *a = operand_of(call, A);
    return call->op == COLLET_OP_DOT && a->shape[0] <= 2 * ROW_CHUNK &&
           (a->dtype == COLLET_F32 || a->dtype == COLLET_F64);
}

static void multiply_short(const collet_device *device, const collet_kernel_call *call)
{
    const vector_kernels *kernels = device->level->vector;
    const collet_operand *y = operand_of(call, Y), *a = operand_of(call, A);
    const char *left = cpu_at(a), *right = cpu_at(operand_of(call, X));
    int64_t n = a->shape[0], left_step = cpu_step(a, 0),
            right_step = cpu_step(operand_of(call, X), 0);
    int wide = a->dtype == COLLET_F64, to_wide = y->dtype == COLLET_F64;
    int narrow = !wide && !to_wide &&
                 (n == 1 || (left_step == sizeof(float) && right_step == sizeof(float)));
    double sum = 0.0, lost = 0.0;
    if (narrow) {
        range_begin();
        kernels->narrow_rows(&sum, left, 0, right, 1, n);
        narrow = !range_was_left();
    }
    if (!narrow) {
        sum = 0.0;
        kernels->rows[wide](&sum, &lost, left, 0, left_step, right, right_step, 1, n);
    }
    real_store(cpu_at(y), to_wide, cpu_total(&(cpu_sum){sum, lost}));
}

/* Each row of a matrix reads the vector, so a vector whose elements are not adjacent is first copied, once. */
typedef struct copied {
    collet_operand operands[VIEWS];
    int64_t shape[COLLET_MAX_DIMS]; /* the shape of the copy: 1 along axes that repeat vectors */
    int64_t strides[COLLET_MAX_DIMS];
    collet_kernel_call call; /* reads the copy, which is at the beginning of the workspace */
    uint64_t bytes;          /* bytes of the copy; 0: the call is the original call */
} copied;

static void begin_copied(copied *c, const collet_kernel_call *call)
{
    const collet_operand *a = operand_of(call, A), *x = operand_of(call, X);
    int32_t last = x->ndim - 1;
    c->call = *call;
    c->bytes = 0;
    if (call->op != COLLET_OP_MATVEC || x->strides[last] == 1 || a->strides[last + 1] != 1 ||
        a->strides[last] == 0 || a->shape[last] < COPIED_ROWS ||
        a->shape[last + 1] <= VECTOR_SHORT || part_of(a->dtype) != a->dtype)
        return;
    int64_t count = 1;
    for (int32_t i = last; i >= 0; i--) {
        int repeated = i < last && x->strides[i] == 0;
        c->shape[i] = repeated ? 1 : x->shape[i];
        c->strides[i] = repeated ? 0 : count;
        count *= c->shape[i];
    }
    for (uint32_t i = 0; i < VIEWS; i++)
        c->operands[i] = *operand_of(call, i);
    c->operands[X].buffer = call->workspace;
    c->operands[X].byte_offset = 0;
    c->operands[X].strides = c->strides;
    c->call.operands = c->operands;
    c->call.operand_size = sizeof *c->operands;
    c->bytes = (uint64_t)divide_up(count * (int64_t)cpu_dtype_size(x->dtype), 64) * 64;
}

static void copy_vectors(const copied *c, const collet_operand *x)
{
    collet_operand to = c->operands[X], from = *x;
    cpu_rows walk = {0};
    to.shape = from.shape = c->shape;
    cpu_rows_view(&walk, &to);
    cpu_rows_view(&walk, &from);
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        cpu_move(walk.at[0], walk.inner[0], walk.at[1], walk.inner[1], cpu_dtype_size(x->dtype),
                 walk.length);
}

ACCEPTS(vector)
{
    vector_plan p = {0};
    copied c;
    *workspace_bytes = 0;
    if (is_short(call))
        return COLLET_OK;
    begin_copied(&c, call);
    make_plan(&p, device, &c.call);
    *workspace_bytes = c.bytes + scratch_bytes(device, &p);
    return COLLET_OK;
}

KERNEL(vector)
{
    copied c;
    if (is_short(call)) {
        multiply_short(device, call);
        return COLLET_OK;
    }
    begin_copied(&c, call);
    vector_plan p = {.sums = (double *)(void *)((char *)call->workspace + c.bytes)};
    make_plan(&p, device, &c.call);
    if (c.bytes)
        copy_vectors(&c, operand_of(call, X));
    return run(device, &p);
}
