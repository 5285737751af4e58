/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram. The elements are divided into parts, whose number depends on the shapes alone; each part has its own
 * bins, which are added in order.
 * Tests: conformance/index/scan.c
 */
#include "cpu_openmp/runtime/device.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/array/kernels/kernel_convert.h"
#include "cpu_openmp/runtime/team.h"
#include "kernel_histogram.h"
#include "shared/host/util/counts.h"
#include "shared/host/util/rows.h"

#define PARTS 32          /* the maximum number of parts */
#define LINE 64           /* bytes */
#define LEAST 32768       /* elements of a part */
#define MOST (1 << 20)    /* bins of all parts */
#define SEVERAL (1 << 10) /* with more bins, each part has one table */

typedef union bin {
    double number;
    uint64_t word;
} bin;

typedef struct job {
    const isa_level *level;
    const collet_operand *a, *weights;
    int64_t count, parts;
    int64_t size; /* bins of a table: the first and the last bin count elements out of range */
    int tables;   /* the number of tables of a part */
    histogram_edges edges;
    bin *bins;
} job;

static void divide(job *j, const collet_kernel_call *call)
{
    j->a = operand_of(call, 1);
    j->weights = operand_of(call, 2);
    j->count = operand_extent(j->a, 0);
    j->edges.bins = operand_extent(operand_of(call, 0), 0);
    j->size = j->edges.bins + 2;
    j->tables = !operand_present(j->weights) && j->size <= SEVERAL && j->count > HISTOGRAM_BLOCK
                    ? HISTOGRAM_TABLES
                    : 1;
    j->parts = min_i64(j->count / LEAST, PARTS);
    if (j->parts < 1 || j->parts * j->size > MOST)
        j->parts = 1;
}

ACCEPTS(histogram)
{
    job j = {0};
    divide(&j, call);
    *workspace_bytes = (uint64_t)(j.parts * j.tables * j.size) * sizeof(bin);
    return COLLET_OK;
}

/* Returns n <= HISTOGRAM_BLOCK elements of `a`, from index i on, as f32 or f64. */
static const void *read_block(const job *j, double *block, int64_t i, int64_t n)
{
    int64_t step = cpu_last_step(j->a), size = (int64_t)cpu_dtype_size(j->a->dtype);
    const char *in = cpu_at(j->a) + i * step;
    collet_dtype from = j->a->dtype, to = from == COLLET_F32 ? from : COLLET_F64;
    convert_run run = j->level->convert->run[to][from];
    if (from == to && step == size)
        return in;
    if (run && step == size)
        run(block, in, n);
    else
        cpu_convert((char *)block, to, (int64_t)cpu_dtype_size(to), in, from, step, n);
    return block;
}

/* Prefetches the elements of a block while the block before it is counted. */
static void prefetch_block(const job *j, int64_t i, int64_t n)
{
    int64_t step = cpu_last_step(j->a);
    uintptr_t first = (uintptr_t)cpu_at(j->a) + (uint64_t)(i * step);
    for (int64_t k = 0; step > 0 && step <= LINE && k < n * step; k += LINE)
        __builtin_prefetch((const void *)(first + (uint64_t)k));
}

static void add_weights(const job *j, bin *bins, const int32_t *places, int64_t i, int64_t n)
{
    int64_t step = cpu_last_step(j->weights);
    const char *weight = cpu_at(j->weights) + i * step;
    if (j->weights->dtype == COLLET_F64)
        for (int64_t k = 0; k < n; k++)
            bins[places[k]].number += *(const double *)(const void *)(weight + k * step);
    else
        for (int64_t k = 0; k < n; k++)
            bins[places[k]].word += *(const uint64_t *)(const void *)(weight + k * step);
}

static void count_part(const job *j, int64_t part)
{
    const histogram_kernels *kernels = j->level->histogram;
    int64_t each = divide_up(j->count, j->parts), end = min_i64((part + 1) * each, j->count);
    bin *bins = j->bins + part * j->tables * j->size;
    double block[HISTOGRAM_BLOCK];
    int32_t places[HISTOGRAM_BLOCK];
    memset(bins, 0, (size_t)(j->tables * j->size) * sizeof *bins);
    for (int64_t i = part * each; i < end; i += HISTOGRAM_BLOCK) {
        int64_t n = min_i64(HISTOGRAM_BLOCK, end - i);
        const void *x = read_block(j, block, i, n);
        prefetch_block(j, i + n, n);
        if (j->a->dtype == COLLET_F32)
            kernels->find_f32(&j->edges, places, x, n);
        else if (j->a->dtype == COLLET_F64)
            kernels->find_f64(&j->edges, places, x, n);
        else
            kernels->find_exactly(&j->edges, places, x, n);
        if (operand_present(j->weights))
            add_weights(j, bins, places, i, n);
        else
            kernels->count(&bins->word, j->size, j->tables, places, n);
    }
    for (int64_t i = j->size; i < j->tables * j->size; i++)
        bins[i % j->size].word += bins[i].word;
}

static TEAM_BODY(count_parts)
{
    for (int64_t part = begin; part < end; part++)
        count_part(argument, part);
}

/* Adds up the bins of all parts and writes the sums to `out`. */
static void store(const job *j, const collet_operand *out)
{
    int numbers = operand_present(j->weights) && j->weights->dtype == COLLET_F64;
    bin *sum = j->bins + 1;
    for (int64_t part = 1; part < j->parts; part++) {
        const bin *more = sum + part * j->tables * j->size;
        for (int64_t i = 0; i < j->edges.bins; i++) {
            if (numbers)
                sum[i].number += more[i].number;
            else
                sum[i].word += more[i].word;
        }
    }
    cpu_convert(cpu_at(out), out->dtype, cpu_last_step(out), (const char *)sum,
                numbers ? COLLET_F64 : COLLET_I64, sizeof *sum, j->edges.bins);
}

static histogram_edges edges_of(const collet_histogram_params *params, int64_t bins)
{
    histogram_edges e = {.low = params->low, .high = params->high, .bins = bins};
    if (e.low == e.high) {
        e.low -= 0.5;
        e.high += 0.5;
    }
    e.width = (e.high - e.low) / (double)bins;
    e.scale = (double)bins / (e.high - e.low);
    /* Bounds the rounding errors of the factor, the product, the offset, the sum and the edges. */
    double largest = fmax(fabs(e.low), fabs(e.high)) * e.scale;
    double steps = 8 * largest + 4 * (double)bins + 4;
    e.error_f64 = steps * 0x1p-53;
    e.error_f32 = e.scale > 0x1p-100 && e.scale < 0x1p100 ? steps * 0x1p-24 : HUGE_VAL;
    return e;
}

KERNEL(histogram)
{
    job j = {.level = device->level, .bins = call->workspace};
    divide(&j, call);
    if (j.edges.bins == 0)
        return COLLET_OK;
    j.edges = edges_of(call->params, j.edges.bins);
    team_run(device->threads, j.parts, 1, count_parts, &j);
    store(&j, operand_of(call, 0));
    return COLLET_OK;
}
