/* SPDX-License-Identifier: Apache-2.0 */
/* cumulative_sum, cumulative_prod and histogram, one element after another.
 * Tests: conformance/index/scan.c */
#include "device.h"

#include "shared/host/index/axes.h"
#include "shared/host/util/counts.h"

#define BLOCK 256

typedef union word {
    double number;
    uint64_t word;
} word;

/* Replaces each of n words by the sum (or product) of *all, the words before it, and itself.
 * Sets *all to the last of these results. */
static void join(word *all, word *words, int64_t n, int is_float, int is_product)
{
    for (int64_t i = 0; i < n; i++) {
        if (is_float)
            all->number =
                is_product ? all->number * words[i].number : all->number + words[i].number;
        else
            all->word = is_product ? all->word * words[i].word : all->word + words[i].word;
        words[i] = *all;
    }
}

/* Sums the real and the imaginary parts of complex numbers separately. */
KERNEL(scan)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    collet_dtype from = part_of(in->dtype), to = part_of(out->dtype);
    int is_product = call->op == COLLET_OP_CUMULATIVE_PROD;
    int is_float = from == COLLET_F32 || from == COLLET_F64;
    collet_dtype type = is_float ? COLLET_F64 : to;
    index_axes out_lead = index_axes_of(out, 0, out->ndim - 1);
    index_axes in_lead = index_axes_of(in, 0, in->ndim - 1);
    int64_t n = operand_extent(in, 0), out_step = cpu_last_step(out), in_step = cpu_last_step(in);
    int64_t parts = from == in->dtype ? 1 : 2, size = (int64_t)cpu_dtype_size(to);
    for (int64_t row = 0; row < parts * out_lead.count; row++) {
        int64_t offset = row % parts * size;
        char *to_row = cpu_at(out) + offset + index_at(&out_lead, row / parts);
        const char *from_row = cpu_at(in) + offset + index_at(&in_lead, row / parts);
        word all = {0}, words[BLOCK];
        if (is_float)
            all.number = is_product ? 1.0 : -0.0; /* 0 and -0 are 0 */
        else
            all.word = (uint64_t)is_product;
        for (int64_t i = 0; i < n; i += BLOCK) {
            int64_t m = min_i64(BLOCK, n - i);
            cpu_convert((char *)words, type, sizeof all, from_row + i * in_step, from, in_step, m);
            join(&all, words, m, is_float, is_product);
            cpu_convert(to_row + i * out_step, to, out_step, (const char *)words, type, sizeof all,
                        m);
        }
    }
    return COLLET_OK;
}

/* The bin that contains x, by comparison with the edges; -1: no bin. */
static int64_t bin_of(double low, double high, int64_t bins, double x)
{
    double width = (high - low) / (double)bins, last = (double)(bins - 1);
    double near = (x - low) / width;
    int64_t i = near < last ? (int64_t)near : bins - 1;
    if (!(x >= low && x <= high))
        return -1;
    while (i + 1 < bins && x >= (double)(i + 1) * width + low)
        i++;
    while (i > 0 && x < (double)i * width + low)
        i--;
    return i;
}

/* Counts and weights are added up in the output. */
KERNEL(histogram)
{
    const collet_histogram_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *a = operand_of(call, 1);
    const collet_operand *weights = operand_of(call, 2);
    double low = params->low, high = params->high;
    int64_t bins = operand_extent(out, 0), step = cpu_last_step(out);
    const word nothing = {0};
    const int64_t one = 1;
    if (low == high) {
        low -= 0.5;
        high += 0.5;
    }
    cpu_move(cpu_at(out), step, (const char *)&nothing, 0, sizeof nothing, bins);
    for (int64_t i = 0; i < operand_extent(a, 0) && bins > 0; i++) {
        double x;
        cpu_convert((char *)&x, COLLET_F64, 0, cpu_at(a) + i * cpu_last_step(a), a->dtype, 0, 1);
        int64_t bin = bin_of(low, high, bins, x);
        word *sum = (word *)(void *)(cpu_at(out) + bin * step), more;
        if (bin < 0)
            continue;
        if (operand_present(weights))
            cpu_convert((char *)&more, out->dtype, 0, cpu_at(weights) + i * cpu_last_step(weights),
                        weights->dtype, 0, 1);
        else
            cpu_convert((char *)&more, out->dtype, 0, (const char *)&one, COLLET_I64, 0, 1);
        if (out->dtype == COLLET_F64)
            sum->number += more.number;
        else
            sum->word += more.word;
    }
    return COLLET_OK;
}
