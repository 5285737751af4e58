/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cumulative_sum and cumulative_prod. A long row is cut into chunks: a thread joins the elements of a chunk, gets the
 * total of all earlier chunks from the thread of the chunk before, and joins this total with its elements, which are
 * still in a cache. The order of operations depends on the length alone, and so do the bits of the results.
 * Tests: conformance/index/scan.c
 */
#include "cpu_openmp/runtime/device.h"

#include <stdatomic.h>
#include <string.h>

#include "cpu_openmp/array/kernels/kernel_convert.h"
#include "cpu_openmp/array/kernels/kernel_move.h"
#include "cpu_openmp/runtime/team.h"
#include "cpu_openmp/runtime/wait.h"
#include "kernel_scan.h"
#include "shared/host/index/axes.h"
#include "shared/host/util/counts.h"

#define BLOCK 512        /* elements in the L1 cache */
#define CHUNK (16 << 10) /* elements, in the L2 cache */
#define LINE 64          /* bytes */
#define GRAIN (16 << 10) /* elements per thread, at least */
#define SPINS 300        /* how often a waiting thread spins before it computes the missing sums itself; about 10 us */

/* The sum (or product) of all elements before a chunk. */
typedef struct ahead {
    _Atomic uint64_t word; /* the bits of a scan_word */
    _Atomic uint32_t known;
} ahead;

typedef struct job {
    const scan_loops *loops;
    const isa_level *level;
    collet_dtype from, type; /* the dtype of the elements, and of the results and the loops */
    collet_dtype word;       /* the dtype in which elements are joined */
    int64_t size;            /* bytes of `type` */
    scan_word nothing;
    char *out;
    const char *in;
    index_axes out_lead, in_lead;
    int64_t out_step, in_step, length;
    int streamed; /* the results get non-temporal stores */
    /* Used if threads share a row: */
    _Atomic int64_t taken; /* the number of chunks that threads have taken */
    ahead *ahead;          /* one for each chunk, and one for the end */
} job;

/* ---- Elements -------------------------------------------------------------------------------- */

static void convert(const job *j, char *out, collet_dtype to, int64_t out_step, const char *in,
                    collet_dtype from, int64_t in_step, int64_t n)
{
    convert_run run = j->level->convert->run[to][from];
    int64_t out_size = (int64_t)cpu_dtype_size(to), in_size = (int64_t)cpu_dtype_size(from);
    if (run && out_step == out_size && in_step == in_size)
        run(out, in, n);
    else
        cpu_convert(out, to, out_step, in, from, in_step, n);
}

/* Returns n <= BLOCK adjacent elements in the dtype of the loops: the elements in place if
 * possible, else copied to `block`. */
static const void *read_block(const job *j, char *block, const char *in, int64_t step, int64_t n)
{
    if (j->from == j->type && step == j->size)
        return in;
    convert(j, block, j->type, j->size, in, j->from, step, n);
    return block;
}

/* Prefetches the second block after the current one. */
static void prefetch(const job *j, const char *in, int64_t n)
{
    uintptr_t first = (uintptr_t)in + (uint64_t)(2 * BLOCK * j->in_step);
    for (int64_t k = 0; j->in_step > 0 && j->in_step <= LINE && k < n * j->in_step; k += LINE)
        __builtin_prefetch((const void *)(first + (uint64_t)k), 0, 2);
}

/* Joins *before with the elements of a chunk, and stores the results unless `out` is NULL. */
static void scan_chunk(const job *j, scan_word *before, char *out, const char *in, int64_t n)
{
    _Alignas(64) char block[BLOCK * sizeof(scan_word)];
    scan_word local = j->nothing;
    int direct = !out || (j->out_step == j->size && !j->streamed);
    for (int64_t i = 0; i < n; i += BLOCK) {
        int64_t m = min_i64(BLOCK, n - i);
        char *to = out ? out + i * j->out_step : NULL;
        if (!out) /* with `out`, this is the second reading: elements are in a cache */
            prefetch(j, in + i * j->in_step, m);
        j->loops->run(direct ? to : block, read_block(j, block, in + i * j->in_step, j->in_step, m),
                      m, before, &local);
        if (j->streamed && out)
            j->level->move->stream_piece(to, block, m * j->size);
        else if (!direct)
            convert(j, to, j->type, j->out_step, block, j->type, j->size, m);
    }
    j->loops->join(before, &local);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static TEAM_BODY(scan_rows)
{
    const job *j = argument;
    for (int64_t row = begin; row < end; row++) {
        char *out = j->out + index_at(&j->out_lead, row);
        const char *in = j->in + index_at(&j->in_lead, row);
        scan_word before = j->nothing;
        for (int64_t i = 0; i < j->length; i += CHUNK)
            scan_chunk(j, &before, out + i * j->out_step, in + i * j->in_step,
                       min_i64(CHUNK, j->length - i));
    }
    j->level->move->stream_end();
}

static int is_known(const job *j, int64_t chunk)
{
    return atomic_load_explicit(&j->ahead[chunk].known, memory_order_acquire) != 0;
}

static scan_word before_chunk(const job *j, int64_t chunk)
{
    return (scan_word){.word = atomic_load_explicit(&j->ahead[chunk].word, memory_order_relaxed)};
}

static int64_t chunk_length(const job *j, int64_t chunk)
{
    return min_i64(CHUNK, j->length - chunk * CHUNK);
}

static scan_word total_of(const job *j, int64_t chunk)
{
    scan_word all = j->nothing;
    scan_chunk(j, &all, NULL, j->in + chunk * CHUNK * j->in_step, chunk_length(j, chunk));
    return all;
}

/* Publishes the sum of the elements before chunk + 1. Two threads may do this for one chunk, with equal results.
 * In an in-place scan a slow thread may have summed elements that were already overwritten; then is_known is true
 * after the fence, and the sum of the slow thread is not used. */
static void set_after(job *j, int64_t chunk, const scan_word *total)
{
    scan_word sum = before_chunk(j, chunk);
    j->loops->join(&sum, total);
    atomic_thread_fence(memory_order_acquire);
    if (!is_known(j, chunk + 1)) {
        atomic_store_explicit(&j->ahead[chunk + 1].word, sum.word, memory_order_relaxed);
        atomic_store_explicit(&j->ahead[chunk + 1].known, 1, memory_order_release);
    }
}

/* Waits until the sum before a chunk is known. If that takes long, the thread that computes an earlier chunk
 * has probably been descheduled; then this thread computes the missing sums. */
static void await_before(job *j, int64_t chunk)
{
    int64_t missing = chunk;
    for (int spins = 0; spins < SPINS && !is_known(j, chunk); spins++)
        relax();
    while (!is_known(j, missing))
        missing--;
    for (; missing < chunk; missing++) {
        scan_word total = total_of(j, missing);
        set_after(j, missing, &total);
    }
}

static TEAM_BODY(scan_shared_row)
{
    job *j = argument;
    int64_t chunks = divide_up(j->length, CHUNK), k;
    (void)begin;
    (void)end;
    while ((k = atomic_fetch_add_explicit(&j->taken, 1, memory_order_relaxed)) < chunks) {
        scan_word total = total_of(j, k);
        await_before(j, k);
        set_after(j, k, &total);
        scan_word before = before_chunk(j, k);
        scan_chunk(j, &before, j->out + k * CHUNK * j->out_step, j->in + k * CHUNK * j->in_step,
                   chunk_length(j, k));
    }
    j->level->move->stream_end();
}

/* Scans one row after another, each on all threads. */
static void share_rows(const collet_device *device, job *j)
{
    char *out = j->out;
    const char *in = j->in;
    for (int64_t row = 0; row < j->out_lead.count; row++) {
        j->out = out + index_at(&j->out_lead, row);
        j->in = in + index_at(&j->in_lead, row);
        memset(j->ahead, 0, (uint64_t)(divide_up(j->length, CHUNK) + 1) * sizeof *j->ahead);
        j->ahead[0] = (ahead){j->nothing.word, 1};
        j->taken = 0;
        team_run(device->threads, device->threads, 1, scan_shared_row, j);
    }
}

/* Adjacent elements are in different rows: scans tiles of BLOCK rows. */
static TEAM_BODY(scan_tiles)
{
    const job *j = argument;
    for (int64_t tile = begin; tile < end; tile++) {
        int64_t first = tile * BLOCK, n = min_i64(BLOCK, j->out_lead.count - first);
        char *out = j->out + first * j->out_lead.each;
        const char *in = j->in + first * j->in_lead.each;
        scan_word all[BLOCK];
        _Alignas(64) char block[sizeof all];
        for (int64_t i = 0; i < n; i++)
            all[i] = j->nothing;
        for (int64_t i = 0; i < j->length; i++, out += j->out_step, in += j->in_step) {
            j->loops->add(all, read_block(j, block, in, j->in_lead.each, n), n);
            convert(j, out, j->type, j->out_lead.each, (const char *)all, j->word,
                    sizeof(scan_word), n);
        }
    }
}

/* Whether threads share each row. All elements are then read twice, so two threads gain only on long rows, which
 * are limited by memory bandwidth. */
static int is_shared(const collet_device *device, int64_t rows, int64_t length)
{
    int64_t least = device->threads > 2 ? 4 * CHUNK : 32 * CHUNK;
    return device->threads > 1 && rows < 4 * (int64_t)device->threads && length >= least;
}

static void scan(const collet_device *device, job *j)
{
    int64_t rows = j->out_lead.count;
    if (rows == 0 || j->length == 0)
        return;
    if (index_is_inner(&j->in_lead, j->in_step) && j->out_lead.flat && j->length > 1)
        team_run(device->threads, divide_up(rows, BLOCK), 1 + GRAIN / BLOCK / j->length, scan_tiles,
                 j);
    else if (is_shared(device, rows, j->length))
        share_rows(device, j);
    else
        team_run(device->threads, rows, 1 + GRAIN / j->length, scan_rows, j);
}

ACCEPTS(scan)
{
    const collet_operand *out = operand_of(call, 0);
    int64_t length = operand_extent(out, 0), count = operand_count(out);
    if (count > 0 && is_shared(device, count / length, length))
        *workspace_bytes = (uint64_t)(divide_up(length, CHUNK) + 1) * sizeof(ahead);
    return COLLET_OK;
}

/* The parts of complex numbers are summed in turn. */
KERNEL(scan)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    collet_dtype from = part_of(in->dtype), type = part_of(out->dtype);
    int is_product = call->op == COLLET_OP_CUMULATIVE_PROD;
    int is_float = type == COLLET_F32 || type == COLLET_F64;
    int loops = type == COLLET_F32 ? 0 : type == COLLET_F64 ? 1 : 2;
    int64_t size = (int64_t)cpu_dtype_size(type);
    for (int part = 0; part < (from == in->dtype ? 1 : 2); part++) {
        job j = {.loops = &device->level->scan->loops[is_product][loops],
                 .level = device->level,
                 .ahead = call->workspace,
                 .from = from,
                 .type = type,
                 .word = is_float ? COLLET_F64 : type,
                 .size = size,
                 .out = cpu_at(out) + part * size,
                 .in = cpu_at(in) + part * size,
                 .out_lead = index_axes_of(out, 0, out->ndim - 1),
                 .in_lead = index_axes_of(in, 0, in->ndim - 1),
                 .out_step = cpu_last_step(out),
                 .in_step = cpu_last_step(in),
                 .length = operand_extent(in, 0),
                 .streamed = cpu_last_step(out) == size &&
                             operand_count(out) * size > device->cache_bytes / 8};
        if (is_float)
            j.nothing.number = is_product ? 1.0 : -0.0; /* 0 and -0 are 0 */
        else
            j.nothing.word = (uint64_t)is_product;
        scan(device, &j);
    }
    return COLLET_OK;
}
