/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram, for all backends on host memory. The elements are divided into parts, whose number
 * depends on the shapes alone; each has bins of its own, which are added in order.
 * Tests: conformance/index/scan.c
 */
#include "axes.h"

#include <string.h>

#include "shared/host/util/counts.h"

#define BLOCK 1024     /* elements */
#define PARTS 8        /* at most */
#define LEAST 16384    /* elements of a part */
#define MOST (1 << 20) /* bins of all parts */

typedef union bin {
    double number;
    uint64_t word;
} bin;

typedef struct job {
    const collet_operand *a, *weights;
    int64_t count, parts, bins;
    double low, high, width, scale;
    bin *tables; /* `bins` for each part, and one that is not stored */
} job;

static int64_t parts_of(int64_t count, int64_t bins)
{
    int64_t parts = min_i64(count / LEAST, PARTS);
    return parts < 1 || parts * bins > MOST ? 1 : parts;
}

ACCEPTS(histogram)
{
    int64_t bins = operand_extent(operand_of(call, 0), 0);
    int64_t parts = parts_of(operand_extent(operand_of(call, 1), 0), bins);
    *workspace_bytes = (uint64_t)(parts * (bins + 1)) * sizeof(bin);
    return COLLET_OK;
}

/* The bin of each element; j->bins of those outside. The quotient may be wrong by one bin, so the edges
 * decide. */
static void find_bins(const job *j, int64_t *restrict to, const double *restrict x, int64_t n)
{
    double low = j->low, high = j->high, scale = j->scale, width = j->width,
           last = (double)j->bins - 1.0;
    for (int64_t i = 0; i < n; i++) {
        int inside = x[i] >= low && x[i] <= high;
        double at = inside ? (x[i] - low) * scale : 0.0;
        at = at < last ? at : last;
        int32_t whole = (int32_t)at;
        double near = (double)whole;
        double first = near * width + low, next = (near + 1.0) * width + low;
        int32_t found = whole + ((near < last) & (x[i] >= next)) - ((whole > 0) & (x[i] < first));
        to[i] = inside ? found : (int64_t)last + 1;
    }
}

static void count_part(const job *j, int64_t part)
{
    int64_t each = divide_up(j->count, j->parts), step = cpu_last_step(j->a);
    int64_t end = min_i64((part + 1) * each, j->count), places[BLOCK];
    bin *table = j->tables + part * (j->bins + 1);
    int weighted = operand_present(j->weights);
    double x[BLOCK];
    memset(table, 0, (size_t)(j->bins + 1) * sizeof *table);
    for (int64_t i = part * each; i < end; i += BLOCK) {
        int64_t n = min_i64(BLOCK, end - i);
        cpu_convert((char *)x, COLLET_F64, 8, cpu_at(j->a) + i * step, j->a->dtype, step, n);
        find_bins(j, places, x, n);
        const char *weight = weighted ? cpu_at(j->weights) + i * cpu_last_step(j->weights) : NULL;
        if (!weighted)
            for (int64_t k = 0; k < n; k++)
                table[places[k]].word++;
        else if (j->weights->dtype == COLLET_F64)
            for (int64_t k = 0; k < n; k++)
                table[places[k]].number +=
                    *(const double *)(const void *)(weight + k * cpu_last_step(j->weights));
        else
            for (int64_t k = 0; k < n; k++)
                table[places[k]].word +=
                    *(const uint64_t *)(const void *)(weight + k * cpu_last_step(j->weights));
    }
}

static void count_parts(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    (void)thread;
    for (int64_t part = begin; part < end; part++)
        count_part(argument, part);
}

/* Adds the parts' bins; counts become the output's dtype. */
static void store(const job *j, const collet_operand *out)
{
    int numbers = operand_present(j->weights) && j->weights->dtype == COLLET_F64;
    for (int64_t i = 0; i < j->bins; i++) {
        bin sum = j->tables[i];
        for (int64_t part = 1; part < j->parts; part++) {
            const bin *more = &j->tables[part * (j->bins + 1) + i];
            if (numbers)
                sum.number += more->number;
            else
                sum.word += more->word;
        }
        cpu_convert(cpu_at(out) + i * cpu_last_step(out), out->dtype, 0, (const char *)&sum,
                    numbers ? COLLET_F64 : COLLET_I64, 0, 1);
    }
}

KERNEL(histogram)
{
    const collet_histogram_params *params = call->params;
    const collet_operand *out = operand_of(call, 0);
    job j = {.a = operand_of(call, 1), .weights = operand_of(call, 2), .tables = call->workspace};
    j.bins = operand_extent(out, 0);
    j.count = operand_extent(j.a, 0);
    j.parts = parts_of(j.count, j.bins);
    j.low = params->low;
    j.high = params->high;
    if (j.low == j.high) {
        j.low -= 0.5;
        j.high += 0.5;
    }
    j.width = (j.high - j.low) / (double)j.bins;
    j.scale = (double)j.bins / (j.high - j.low);
    if (j.bins == 0)
        return COLLET_OK;
    host_share(device, j.parts, 1, count_parts, &j);
    store(&j, out);
    return COLLET_OK;
}
