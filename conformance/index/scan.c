/* SPDX-License-Identifier: Apache-2.0 */
/* index: cumulative_sum, cumulative_prod and histogram.
 * Tests: tests/conformance/defects.sh */
#include "kit.h"

#include <math.h>
#include <stdlib.h>

/* ---- Cumulative ---------------------------------------------------------------------------- */

static kit_case scanned(const kit_plan *plan, int64_t n, int32_t dots)
{
    static const int64_t rows[] = {3, 5};
    kit_case c = kit_case_of(plan);
    kit_bind(&c, "N", &n, dots, rows, 0);
    return c;
}

static void plan_scan(kit_plan *plan)
{
    static const int64_t lengths[] = {0, 1, 2, 7, 8, 9, 31, 1023, 1025, 2500, 20011};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int32_t dots = 0; dots < (lengths[i] > 5000 ? 1 : 3); dots++) {
            kit_case c = scanned(plan, lengths[i], dots);
            kit_emit(plan, &c);
            if (lengths[i] == 31) {
                kit_emit_layouts(plan, &c);
                kit_emit_sharing(plan, &c);
                kit_emit_parts(plan, &c);
            }
            c.layout[0] = c.layout[1] = KIT_TRANSPOSED;
            if (lengths[i] == 1025)
                kit_emit(plan, &c);
        }
    /* Chunks that threads share. */
    kit_case c = scanned(plan, (1 << 19) + (1 << 15) + 77, 0);
    c.big = true;
    kit_emit(plan, &c);
}

static void generate_scan(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[1];
    double spread = c->row->info.id == COLLET_OP_CUMULATIVE_PROD
                        ? 30 / sqrt((double)t->shape[t->ndim - 1] + 1)
                        : 0;
    kit_ordinary(t, rng, 3);
    for (int64_t i = 0; i < t->count && spread > 0 && kit_is_real_float(t->dtype); i++)
        kit_set(t, i, (long double)exp2(kit_uniform(rng, -spread, spread)));
}

static void judge_scan(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    collet_dtype part = kit_part(out->dtype);
    bool is_product = c->row->info.id == COLLET_OP_CUMULATIVE_PROD;
    int64_t halves = kit_part(in->dtype) == in->dtype ? 1 : 2, n = in->shape[in->ndim - 1];
    const kit_limit *limit = kit_limit_find(c->row->info.id, part, "value");
    for (int64_t half = 0; half < halves; half++) {
        long double sum = 0, magnitude = 0;
        uint64_t word = 0;
        for (int64_t i = 0; i < in->count; i++) {
            int64_t at = i * halves + half, terms = i % n + 1;
            long double x = kit_get(in, at);
            uint64_t w = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
            if (terms == 1) {
                sum = is_product;
                magnitude = 0;
                word = is_product;
            }
            sum = is_product ? sum * x : sum + x;
            magnitude = is_product ? fabsl(sum) : magnitude + fabsl(x);
            word = is_product ? word * w : word + w;
            if (kit_is_real_float(part))
                kit_near(c, v, 0, at, sum, part == COLLET_F64 ? terms * magnitude : magnitude,
                         limit);
            else
                kit_same(c, v, 0, at, &word, true);
        }
    }
}

/* ---- Histogram ----------------------------------------------------------------------------- */

static void plan_histogram(kit_plan *plan)
{
    static const int64_t lengths[] = {0, 1, 5, 1000, 3000, 40000}, bins[] = {1, 2, 10, 37, 1000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t k = 0; k < sizeof bins / sizeof *bins; k++)
            for (int weights = 0; weights < 2; weights++) {
                kit_case c = kit_case_of(plan);
                kit_bind(&c, "BN", (int64_t[]){bins[k], lengths[i]}, 0, NULL, 0);
                if (!weights)
                    kit_absent(&c, 2);
                c.params.histogram =
                    (collet_histogram_params){.struct_size = sizeof c.params.histogram,
                                              .low = k % 2 ? -7 : 0,
                                              .high = k == 4   ? -7 + 40 / 3.0
                                                      : k == 3 ? -7
                                                               : 30};
                if (k == 4)
                    c.params.histogram.low = -7;
                kit_emit(plan, &c);
                if (lengths[i] == 1000 && k == 2)
                    kit_emit_layouts(plan, &c);
            }
}

/* Many elements at edges. */
static void generate_histogram(kit_case *c, kit_rng *rng)
{
    kit_tensor *a = &c->operand[1];
    const collet_histogram_params *p = &c->params.histogram;
    double width = (p->high - p->low) / (double)c->operand[0].count;
    if (kit_is_real_float(a->dtype))
        kit_random_bits(a, rng);
    for (int64_t i = 0; i < a->count; i++) {
        double x = kit_uniform(rng, p->low - 1, p->high + 1);
        if (kit_below(rng, 3) == 0)
            x = (double)kit_below(rng, c->operand[0].count + 1) * width + p->low;
        if (!kit_is_real_float(a->dtype) || kit_below(rng, 20))
            kit_set(a, i, kit_is_real_float(a->dtype) ? (long double)x : floorl((long double)x));
    }
    if (c->operand[2].dtype)
        kit_ordinary(&c->operand[2], rng, 3);
}

/* The bin of x by its definition: the last bin whose lower edge, computed in f64, is at most x. */
static int64_t bin_of(double low, double high, int64_t bins, double x)
{
    double width = (high - low) / (double)bins;
    int64_t i = (int64_t)((x - low) / width) + 2;
    i = i < bins ? i : bins - 1;
    while (i > 0 && x < (double)i * width + low)
        i--;
    return i;
}

static void judge_histogram(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *a = kit_in(c, 0), *weights = kit_in(c, 1);
    const kit_limit *limit = kit_limit_find(COLLET_OP_HISTOGRAM, out->dtype, "value");
    double low = c->params.histogram.low, high = c->params.histogram.high;
    long double *sums = kit_memory((size_t)out->count * 2 * sizeof *sums);
    if (low == high) {
        low -= 0.5;
        high += 0.5;
    }
    for (int64_t i = 0; i < a->count; i++) {
        double x = (double)kit_get(a, i);
        if (!(x >= low && x <= high))
            continue;
        int64_t bin = bin_of(low, high, out->count, x);
        long double weight = weights->dtype ? kit_get(weights, i) : 1;
        sums[2 * bin] += weight;
        sums[2 * bin + 1] += fabsl(weight);
    }
    for (int64_t i = 0; i < out->count; i++) {
        int64_t count = (int64_t)sums[2 * i];
        if (out->dtype == COLLET_I64)
            kit_same(c, v, 0, i, &count, true);
        else
            kit_near(c, v, 0, i, sums[2 * i], sums[2 * i + 1] * (long double)a->count, limit);
    }
    free(sums);
}

const kit_op kit_index_scan_ops[] = {
    {COLLET_OP_CUMULATIVE_SUM, plan_scan, generate_scan, judge_scan},
    {COLLET_OP_CUMULATIVE_PROD, plan_scan, generate_scan, judge_scan},
    {COLLET_OP_HISTOGRAM, plan_histogram, generate_histogram, judge_histogram},
    {0},
};
