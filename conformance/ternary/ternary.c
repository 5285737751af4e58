/* SPDX-License-Identifier: Apache-2.0 */
/* ternary: quantize, pack and unpack.
 * Tests: tests/conformance/test_broken.c */
#include "formats.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Plans --------------------------------------------------------------------------------- */

enum { ORDINARY, SPECIAL, TIES, ZEROS, KINDS, INVALID = KINDS };

typedef struct axes {
    int32_t ndim;
    int64_t extent[3];
} axes;

static const axes batches[] = {{0, {0}}, {1, {3}}, {2, {2, 3}}};

/* Lengths around the block sizes of kernels, after every length up to `all`. */
static const int64_t lengths[] = {301,  383,  384,  385,  511,  512,  513,  767,  768,
                                  769,  1000, 1023, 1024, 1025, 1279, 1280, 2047, 2048,
                                  2049, 4095, 4096, 4097, 4352, 4607, 4609, 8191, 8193};
#define LENGTHS (sizeof lengths / sizeof *lengths)

static int64_t length_of(int64_t number, int64_t all)
{
    return number <= all ? number : lengths[number - all - 1];
}

static kit_case of_quantize(const kit_plan *plan, int64_t weights, axes batch, int kind,
                            uint32_t mode, float threshold)
{
    static const char *const names[KINDS] = {"", "special values", "at the threshold", "zeros"};
    kit_case c = kit_case_of(plan);
    kit_bind(&c, "K", &weights, batch.ndim, batch.extent, 0);
    c.params.quantize = (collet_ternary_quantize_params){
        .struct_size = sizeof c.params.quantize, .mode = mode, .threshold = threshold};
    c.kind = kind;
    c.data = names[kind];
    return c;
}

static void plan_quantize_layouts(kit_plan *plan, uint32_t mode, float threshold)
{
    static const int64_t strided[] = {5, 37, 300};
    static const axes deep = {3, {2, 1, 3}}, none = {1, {0}}, four = {1, {4}};
    for (size_t i = 0; i < sizeof strided / sizeof *strided; i++) {
        kit_case c = of_quantize(plan, strided[i], batches[i % 2 + 1], ORDINARY, mode, threshold);
        kit_emit_layouts(plan, &c);
    }
    kit_case c = of_quantize(plan, 65, deep, SPECIAL, mode, threshold);
    kit_emit(plan, &c);
    c = of_quantize(plan, 7, none, ORDINARY, mode, threshold);
    kit_emit(plan, &c);
    /* The weights are one row, which broadcasts to all rows of codes. */
    c = of_quantize(plan, 70, four, SPECIAL, mode, threshold);
    kit_shape(&c, 3, 1, &(int64_t){70});
    kit_emit(plan, &c);
}

static void plan_quantize(kit_plan *plan)
{
    static const float thresholds[] = {0, 0.3f, 0.25f, 1e-40f, FLT_MAX};
    static const axes three = {1, {3}}, one = {0, {0}};
    for (int64_t n = 0; n <= 70 + (int64_t)LENGTHS; n++) {
        float threshold = thresholds[n % 5];
        for (int kind = ORDINARY; kind < KINDS; kind++) {
            int64_t weights = length_of(n, 70);
            for (uint32_t mode = 0; mode <= COLLET_TERNARY_ABSMEAN; mode++) {
                kit_case c = of_quantize(plan, weights, batches[(n + kind) % 3], kind, mode,
                                         mode ? 0 : threshold);
                if ((n + kind) % 5 == 4)
                    kit_absent(&c, 1);
                kit_emit(plan, &c);
            }
        }
    }
    plan_quantize_layouts(plan, COLLET_TERNARY_THRESHOLD, 0.3f);
    plan_quantize_layouts(plan, COLLET_TERNARY_ABSMEAN, 0);
    for (uint32_t mode = 0; mode <= COLLET_TERNARY_ABSMEAN; mode++) {
        kit_case c = of_quantize(plan, 20011, three, ORDINARY, mode, 0);
        c.big = true;
        kit_emit(plan, &c);
        c = of_quantize(plan, (1 << 18) + 5, one, SPECIAL, mode, 0);
        c.big = true;
        kit_emit(plan, &c);
    }
}

/* A case for K weights in rows of bytes: pack's and unpack's patterns have the same letters. */
static kit_case of_format(const kit_plan *plan, uint32_t format, int64_t weights, axes batch,
                          int kind)
{
    bool packs = plan->row->info.id == COLLET_OP_TERNARY_PACK;
    int64_t extents[] = {weights, ternary_row_bytes(format, weights), weights / 256};
    kit_case c = kit_case_of(plan);
    kit_bind(&c, "KBG", extents, batch.ndim, batch.extent, 0);
    c.params.format = (collet_ternary_format_params){sizeof c.params.format, format};
    c.kind = kind;
    c.data = kind == SPECIAL ? "any codes" : kind == INVALID ? "no valid code" : "";
    if (!ternary_has_scale(format))
        kit_absent(&c, packs ? 3 : 1);
    return c;
}

static void plan_format_layouts(kit_plan *plan, uint32_t format)
{
    static const int64_t strided[] = {3, 37, 300};
    static const axes deep = {3, {2, 1, 3}}, none = {1, {0}}, rows = {1, {1027}}, one = {0, {0}};
    for (size_t i = 0; i < sizeof strided / sizeof *strided; i++) {
        int64_t weights = ternary_has_scale(format) ? 256 * ((int64_t)i + 1) : strided[i];
        kit_case c = of_format(plan, format, weights, batches[i % 2 + 1], SPECIAL);
        kit_emit_layouts(plan, &c);
    }
    kit_case c = of_format(plan, format, 512, deep, ORDINARY);
    kit_emit(plan, &c);
    c = of_format(plan, format, 256, none, ORDINARY);
    kit_emit(plan, &c);
    c = of_format(plan, format, 256, rows, SPECIAL);
    kit_emit(plan, &c);
    if (ternary_has_scale(format) && plan->row->info.id == COLLET_OP_TERNARY_PACK) {
        c = of_format(plan, format, 512, batches[2], ORDINARY);
        kit_shape(&c, 3, 0, NULL); /* one scale for all rows */
        kit_emit(plan, &c);
    }
    c = of_format(plan, format, 256 * 300, one, INVALID); /* each lane counts more than a byte holds */
    if (!ternary_has_scale(format))
        kit_emit(plan, &c);
    c = of_format(plan, format, 256 * 4099, one, SPECIAL);
    c.big = true;
    kit_emit(plan, &c);
}

static void plan_format(kit_plan *plan)
{
    bool packs = plan->row->info.id == COLLET_OP_TERNARY_PACK;
    for (uint32_t format = 0; format < COLLET_TERNARY_FORMATS; format++) {
        for (int64_t n = 0; n <= 300 + (int64_t)LENGTHS; n++) {
            int64_t weights = length_of(n, 300);
            if (!ternary_has_rows(format, weights))
                continue;
            for (int kind = ORDINARY; kind <= SPECIAL; kind++) {
                kit_case c = of_format(plan, format, weights, batches[n % 3], kind);
                c.layout[0] = n % 4 ? KIT_DENSE : KIT_UNALIGNED;
                c.layout[packs ? 2 : 3] = n % 5 ? KIT_DENSE : KIT_UNALIGNED;
                kit_emit(plan, &c);
                if (ternary_has_scale(format)) {
                    kit_absent(&c, packs ? 3 : 1);
                    kit_emit(plan, &c);
                }
            }
        }
        plan_format_layouts(plan, format);
    }
}

/* ---- quantize ------------------------------------------------------------------------------ */

/* The next value of `dtype` below or above. */
static long double neighbour(collet_dtype dtype, long double value, int direction)
{
    return value + direction * kit_ulp(dtype, value) * (direction < 0 ? 0.75L : 1);
}

static long double special_of_mean(const kit_tensor *t, int64_t i, kit_rng *rng)
{
    if (kit_below(rng, 3))
        return kit_get(t, i);
    if (kit_below(rng, 12) == 0)
        return kit_below(rng, 2) ? (long double)NAN : -(long double)INFINITY;
    return kit_below(rng, 2) ? -0.0L : 0x1p-120L;
}

static void generate_quantize(kit_case *c, kit_rng *rng)
{
    kit_tensor *t = &c->operand[3];
    bool absmean = c->params.quantize.mode == COLLET_TERNARY_ABSMEAN;
    long double threshold = (long double)c->params.quantize.threshold;
    kit_ordinary(t, rng, 2);
    if (c->kind == SPECIAL && !absmean)
        kit_sprinkle_specials(t, rng);
    for (int64_t i = 0; i < t->count; i++) {
        long double sign = kit_next(rng) & 1 ? -1 : 1;
        if (c->kind == SPECIAL && absmean)
            kit_set(t, i, special_of_mean(t, i, rng));
        else if (c->kind == ZEROS)
            kit_set(t, i, sign * 0.0L);
        else if (c->kind == TIES && absmean)
            /* If the row length is a multiple of three, half the mean, the threshold, is the smallest magnitude. */
            kit_set(t, i, sign * (3 - (long double)(i % 3)));
        else if (c->kind == TIES)
            kit_set(t, i, sign * neighbour(t->dtype, threshold, (int)kit_below(rng, 3) - 1));
    }
}

/* The interval in which the threshold may lie. */
typedef struct bound {
    long double low, high;
} bound;

static bound bound_of(const kit_case *c, int64_t r, long double mean, const kit_limit *limit)
{
    long double error = (long double)limit->limit, t = mean / 2;
    if (c->params.quantize.mode == COLLET_TERNARY_ABSMEAN &&
        c->operand[1].dtype == COLLET_DTYPE_NONE)
        return (bound){t * (1 - error), t * (1 + error)};
    if (c->params.quantize.mode == COLLET_TERNARY_ABSMEAN) /* from the returned scale */
        t = (long double)((float)kit_get(&c->operand[1], r) * 0.5f);
    else
        t = (long double)c->params.quantize.threshold;
    return (bound){t, t};
}

static void judge_code(const kit_case *c, kit_verdict *v, int64_t at, long double x, bound t)
{
    int8_t low = (int8_t)((x > t.low) - (x < -t.low)),
           high = (int8_t)((x > t.high) - (x < -t.high));
    int8_t got = (int8_t)kit_get(&c->operand[0], at);
    kit_same(c, v, 0, at, got == high ? &high : &low, true);
}

static void judge_scale(const kit_case *c, kit_verdict *v, int64_t r, long double mean)
{
    float one = 1;
    if (c->operand[1].dtype == COLLET_DTYPE_NONE)
        return;
    if (c->params.quantize.mode == COLLET_TERNARY_THRESHOLD)
        kit_same(c, v, 1, r, &one, true);
    else
        kit_near(c, v, 1, r, mean, mean + FLT_TRUE_MIN * 0x1p24L,
                 kit_limit_find(COLLET_OP_TERNARY_QUANTIZE, COLLET_F32, "scale"));
}

static void judge_quantize(const kit_case *c, kit_verdict *v)
{
    const kit_limit *limit = kit_limit_find(COLLET_OP_TERNARY_QUANTIZE, COLLET_F32, "scale");
    const kit_tensor *in = kit_in(c, 0);
    int64_t weights = in->shape[in->ndim - 1];
    int32_t invalid = 0;
    for (int64_t r = 0; r < ternary_rows(c, 1); r++) {
        int64_t first = ternary_row(c, 3, 1, 1, r);
        long double sum = 0;
        for (int64_t i = 0; i < weights; i++) {
            long double x = kit_get(in, first + i);
            invalid += !isfinite(x);
            sum += fabsl(x);
        }
        long double mean = weights > 0 ? sum / (long double)weights : 0;
        judge_scale(c, v, r, mean);
        bound t = bound_of(c, r, mean, limit);
        for (int64_t i = 0; i < weights; i++)
            judge_code(c, v, r * weights + i, kit_get(in, first + i), t);
    }
    kit_same(c, v, 2, 0, &invalid, true);
}

/* ---- pack and unpack ----------------------------------------------------------------------- */

/* Scales at ties of f16, subnormal in f16, beyond its range, and not finite. */
static void generate_scale(kit_tensor *t, kit_rng *rng)
{
    static const float chosen[] = {1,      1 + 0x1p-11f, 1 + 0x3p-11f, 1e-6f,     -0.0f,
                                   65520,  65519.99f,    -1e30f,       0x1p-25f,  0x1.8p-25f,
                                   0.013f, INFINITY,     NAN,          0x1.8p-24f};
    for (int64_t i = 0; i < t->count && t->dtype != COLLET_DTYPE_NONE; i++)
        kit_set(t, i,
                kit_next(rng) & 1
                    ? (long double)chosen[kit_below(rng, sizeof chosen / sizeof *chosen)]
                    : (long double)kit_normal(rng));
}

static void generate_pack(kit_case *c, kit_rng *rng)
{
    kit_tensor *codes = &c->operand[2];
    for (int64_t i = 0; i < codes->count; i++) {
        bool any = c->kind == SPECIAL && kit_below(rng, 4) == 0;
        kit_set(codes, i, (long double)(any ? kit_below(rng, 256) - 128 : kit_below(rng, 3) - 1));
        if (c->kind == INVALID)
            kit_set(codes, i, 5);
    }
    generate_scale(&c->operand[3], rng);
}

/* A block's scale may be any NaN. */
static bool same_scale(const unsigned char *got, long double exact)
{
    uint16_t bits, ideal;
    memcpy(&bits, got, sizeof bits);
    kit_convert(COLLET_F16, exact, &ideal);
    return bits == ideal || (isnan(exact) && isnan(kit_value(COLLET_F16, &bits)));
}

static void judge_row(const kit_case *c, kit_verdict *v, int64_t r, const unsigned char *row,
                      int64_t weights)
{
    uint32_t format = c->params.format.format;
    int64_t bytes = ternary_row_bytes(format, weights), at = ternary_row(c, 3, 0, 1, r);
    bool has_scale = c->operand[3].dtype != COLLET_DTYPE_NONE;
    for (int64_t i = 0; i < bytes; i++) {
        int64_t block = ternary_has_scale(format) ? i / ternary_block_bytes(format) : 0;
        if (!ternary_has_scale(format) ||
            i % ternary_block_bytes(format) < ternary_block_bytes(format) - 2) {
            kit_same(c, v, 0, r * bytes + i, row + i, true);
            continue;
        }
        unsigned char *got = ternary_scale(format, c->operand[0].data + r * bytes, block);
        long double ideal = has_scale ? kit_get(&c->operand[3], at) : 1;
        if (!same_scale(got, ideal))
            kit_fail(v, "row %lld, block %lld: the scale is stored as %02x %02x; it must be %.9Lg",
                     (long long)r, (long long)block, got[0], got[1], ideal);
    }
}

static void judge_pack(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *codes = kit_in(c, 0);
    uint32_t format = c->params.format.format;
    int64_t weights = codes->shape[codes->ndim - 1];
    unsigned char *row = kit_memory((size_t)ternary_row_bytes(format, weights));
    int32_t invalid = 0;
    for (int64_t r = 0; r < ternary_rows(c, 1); r++) {
        int64_t first = ternary_row(c, 2, 1, 1, r);
        ternary_clear(format, row, weights);
        for (int64_t i = 0; i < weights; i++) {
            int code = (int)kit_get(codes, first + i);
            bool known = code >= -1 && code <= 1;
            ternary_write(format, row, weights, i, known ? code : 0);
            invalid += !known;
        }
        judge_row(c, v, r, row, weights);
    }
    kit_same(c, v, 1, 0, &invalid, true);
    free(row);
}

static void generate_unpack(kit_case *c, kit_rng *rng)
{
    kit_tensor *bytes = &c->operand[3];
    uint32_t format = c->params.format.format;
    int64_t weights = c->operand[0].shape[c->operand[0].ndim - 1];
    int64_t row = bytes->shape[bytes->ndim - 1];
    kit_random_bits(bytes, rng);
    if (c->kind == INVALID)
        memset(bytes->data, 0xff, (size_t)bytes->count);
    for (int64_t r = 0; row > 0 && c->kind == ORDINARY && r < bytes->count / row; r++) {
        ternary_clear(format, bytes->data + r * row, weights);
        for (int64_t i = 0; i < weights; i++)
            ternary_write(format, bytes->data + r * row, weights, i, (int)kit_below(rng, 3) - 1);
        for (int64_t block = 0; ternary_has_scale(format) && block < weights / 256; block++)
            kit_convert(COLLET_F16, (long double)kit_normal(rng),
                        ternary_scale(format, bytes->data + r * row, block));
    }
}

static void judge_unpack(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *bytes = kit_in(c, 0), *codes = &c->operand[0];
    uint32_t format = c->params.format.format;
    int64_t weights = codes->shape[codes->ndim - 1];
    int32_t invalid = 0;
    for (int64_t r = 0; r < ternary_rows(c, 1); r++) {
        unsigned char *row = bytes->data + ternary_row(c, 3, 1, 1, r);
        for (int64_t i = 0; i < weights; i++) {
            int weight = ternary_read(format, row, weights, i);
            int8_t code = (int8_t)(weight == TERNARY_INVALID ? 0 : weight);
            invalid += weight == TERNARY_INVALID;
            kit_same(c, v, 0, r * weights + i, &code, true);
        }
        for (int64_t g = 0; c->operand[1].dtype != COLLET_DTYPE_NONE && g < weights / 256; g++) {
            float scale = (float)kit_value(COLLET_F16, ternary_scale(format, row, g));
            kit_same(c, v, 1, r * (weights / 256) + g, &scale, false);
        }
    }
    kit_same(c, v, 2, 0, &invalid, true);
}

const kit_op kit_ternary_ops[] = {
    {COLLET_OP_TERNARY_QUANTIZE, plan_quantize, generate_quantize, judge_quantize},
    {COLLET_OP_TERNARY_PACK, plan_format, generate_pack, judge_pack},
    {COLLET_OP_TERNARY_UNPACK, plan_format, generate_unpack, judge_unpack},
    {0},
};
