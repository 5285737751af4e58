/* SPDX-License-Identifier: Apache-2.0 */
/* ternary: dot, matmul and linear, term by term. Bit-exact results are computed in f32 with every operation rounded.
 * All other results are computed in long double.
 * Tests: tests/conformance/test_broken.c */
#include "formats.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDINARY, EXTREME, SPARSE, NOT_FINITE, TIES, RANGE, SCALES, KINDS };
static const char *const kind_names[KINDS] = {
    "",
    "all weights of a row equal",
    "few nonzero weights",
    "some x not finite",
    "x at ties of rounding and thresholds",
    "x from zero to the largest number",
    "scales and biases of every kind",
};

/* ---- Cases --------------------------------------------------------------------------------- */

/* A matrix of M rows of `weights` weights, and x with N rows; N = -1: x is a vector. */
typedef struct product {
    int64_t m, weights, n;
} product;

static kit_case of_product(const kit_plan *plan, product p, int kind)
{
    kit_case c = kit_case_of(plan);
    int64_t bytes = ternary_row_bytes(COLLET_TERNARY_T2, p.weights);
    bool packed =
        plan->row->info.id != COLLET_OP_TERNARY_LINEAR && plan->row->dtypes[2] == COLLET_U8;
    int64_t extents[] = {p.m, bytes, packed ? bytes : p.weights};
    kit_bind(&c, "MBK", extents, p.n >= 0, &p.n, 0);
    c.kind = kind;
    c.data = kind_names[kind];
    return c;
}

/* Row lengths in blocks of 256 weights: small lengths, around the steps of kernels, and at the limits
 * of 8-bit, 16-bit and float sums. */
static const int64_t blocks[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11,  12,  13,  14,
                                 15, 16, 17, 31, 32, 33, 63, 64, 65, 66, 129, 255, 257, 1025};

static void plan_dot(kit_plan *plan)
{
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        for (int kind = ORDINARY; kind <= SPARSE; kind++) {
            kit_case c = of_product(plan, (product){1, 256 * blocks[i], -1}, kind);
            kit_emit(plan, &c);
            c.layout[0] = c.layout[1] = c.layout[2] = KIT_UNALIGNED;
            kit_emit(plan, &c);
            c.layout[1] = KIT_DENSE;
            kit_emit(plan, &c);
        }
    kit_case c = of_product(plan, (product){1, 512, -1}, ORDINARY);
    kit_emit_layouts(plan, &c);
    for (int kind = ORDINARY; kind <= EXTREME; kind++) {
        c = of_product(plan, (product){1, 10000000, -1}, kind);
        c.big = true;
        kit_emit(plan, &c);
    }
}

/* Sets the activations and the absent operands of a case of linear; no effect on other ops. */
static void choose(kit_case *c, uint32_t activations, int number)
{
    static const float thresholds[] = {0, 0.5f, 0.3f, 1e-40f, FLT_MAX};
    if (c->row->info.id != COLLET_OP_TERNARY_LINEAR)
        return;
    c->params.linear = (collet_ternary_linear_params){.struct_size = sizeof c->params.linear,
                                                      .activations = activations,
                                                      .relu = (uint32_t)(number / 4 % 2)};
    if (activations == COLLET_TERNARY_TERNARY)
        c->params.linear.threshold = thresholds[number / 8 % 5];
    if (number & 1)
        kit_absent(c, 3);
    if (number & 2)
        kit_absent(c, 4);
}

/* 1 if the row has cases of the kind. */
static bool has_kind(const kit_plan *plan, uint32_t activations, int kind)
{
    if (kind <= SPARSE)
        return true;
    if (plan->row->info.id == COLLET_OP_TERNARY_MATMUL)
        return kind == NOT_FINITE && plan->row->dtypes[2] == COLLET_F32;
    return activations != COLLET_TERNARY_F32 || kind == NOT_FINITE;
}

static uint32_t activations_of(const kit_plan *plan)
{
    return plan->row->info.id == COLLET_OP_TERNARY_LINEAR ? 4 : 1;
}

static void each_kind(kit_plan *plan, product p, int number, bool big)
{
    for (uint32_t a = 0; a < activations_of(plan); a++)
        for (int kind = ORDINARY; kind < KINDS; kind++) {
            if (!has_kind(plan, a, kind))
                continue;
            kit_case c = of_product(plan, p, kind);
            choose(&c, a, number + kind);
            c.big = big;
            kit_emit(plan, &c);
        }
}

/* Every length up to 300, each with one kind of data. */
static void plan_lengths(kit_plan *plan)
{
    for (int weights = 0; weights <= 300; weights++)
        for (uint32_t a = 0; a < activations_of(plan); a++) {
            int kind = weights % KINDS;
            product p = {1 + weights % 6, weights, weights % 5 - 1};
            kit_case c = of_product(plan, p, has_kind(plan, a, kind) ? kind : ORDINARY);
            choose(&c, a, weights);
            for (uint32_t k = 0; k < c.row->operands; k++)
                c.layout[k] = weights >> k & 1 ? KIT_UNALIGNED : KIT_DENSE;
            kit_emit(plan, &c);
        }
}

static void plan_layouts(kit_plan *plan)
{
    static const product strided[] = {
        {5, 300, 3}, {17, 70, 9}, {3, 256, -1}, {6, 513, 5}, {14, 300, 33}};
    static const struct {
        int32_t ndim;
        int64_t shape[2];
    } leading[] = {{2, {2, 3}}, {1, {3}}, {2, {2, 1}}, {0, {0}}, {1, {0}}}; /* axes of x */
    for (size_t i = 0; i < sizeof strided / sizeof *strided; i++)
        for (uint32_t a = 0; a < activations_of(plan); a++) {
            kit_case c = of_product(plan, strided[i], ORDINARY);
            choose(&c, a, i % 2 ? 0 : 3);
            kit_emit_layouts(plan, &c);
        }
    for (uint32_t a = 0; a < activations_of(plan); a++) {
        kit_case c = of_product(plan, (product){5, 300, 3}, ORDINARY);
        int64_t last = c.operand[2].shape[1];
        choose(&c, a, 0);
        kit_shape(&c, 0, 3, (int64_t[]){2, 3, 5});
        for (size_t i = 0; i < sizeof leading / sizeof *leading; i++) {
            int64_t x[] = {leading[i].shape[0], leading[i].shape[1], 0};
            x[leading[i].ndim] = last;
            kit_shape(&c, 2, leading[i].ndim + 1, x);
            if (i == 4) /* no tokens */
                kit_shape(&c, 0, 2, (int64_t[]){0, 5});
            (i == 0 ? kit_emit_layouts : kit_emit)(plan, &c);
        }
        c = of_product(plan, (product){256, 256, 4}, ORDINARY);
        choose(&c, a, 0);
        kit_emit_sharing(plan, &c);
    }
}

/* Enough rows and tokens for blocked kernels: two and three axes, every kind. */
static void plan_many(kit_plan *plan)
{
    for (uint32_t a = 0; a < activations_of(plan); a++) {
        kit_case c = of_product(plan, (product){209, 60, 34}, ORDINARY);
        choose(&c, a, 3);
        c.big = true;
        kit_emit_layouts(plan, &c);
        kit_shape(&c, 0, 3, (int64_t[]){2, 17, 209});
        kit_shape(&c, 2, 3, (int64_t[]){2, 17, c.operand[2].shape[1]});
        kit_emit_layouts(plan, &c);
    }
    each_kind(plan, (product){90, 256, 65}, 0, true);
}

static void plan_big(kit_plan *plan)
{
    static const product products[] = {{389, 1031, 3}, {209, 2100, 33},  {111, 2093, 105},
                                       {3, 200001, 2}, {1027, 4096, -1}, {3, 1031, 1061},
                                       {14, 16700, 33}};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        for (uint32_t a = 0; a < activations_of(plan); a++) {
            kit_case c = of_product(plan, products[i], i == 1 || i == 3 ? EXTREME : ORDINARY);
            choose(&c, a, 0);
            c.big = true;
            kit_emit(plan, &c);
        }
    /* Sums of -128 at the limits of i32. */
    if (plan->row->dtypes[2] == COLLET_I8) {
        kit_case c = of_product(plan, (product){2, (1 << 24) - 1, -1}, EXTREME);
        c.big = true;
        kit_emit(plan, &c);
        /* Kernels may multiply two-bit codes in place, without a shift. With the highest code of
         * each byte, 64 times too large, a quarter of these sums overflows i32. */
        c = of_product(plan, (product){5, (1 << 19) + 256, 32}, EXTREME);
        c.big = true;
        kit_emit(plan, &c);
    }
}

static void plan_product(kit_plan *plan)
{
    static const product products[] = {
        {1, 1, -1},    {1, 256, -1},  {2, 255, -1},  {3, 257, -1},  {4, 512, -1},  {5, 511, -1},
        {7, 513, -1},  {8, 768, -1},  {9, 1023, -1}, {15, 1024, 1}, {16, 1025, 2}, {17, 4096, 3},
        {31, 256, 4},  {32, 300, 5},  {33, 512, 7},  {64, 100, 8},  {65, 1000, 9}, {3, 4099, 15},
        {2, 8200, 16}, {16, 256, 17}, {1, 300, 31},  {4, 256, 32},  {5, 700, 33},  {8, 512, 64},
        {3, 256, 65},  {0, 256, 3},   {3, 0, 4},     {3, 256, 0},   {0, 0, 0},     {130, 70, 1},
        {257, 33, 2},  {10, 256, 32}, {1, 16384, 1}, {2, 65537, 1}, {4, 33000, 2}, {29, 600, 70},
        {5, 0, 33},
    };
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        each_kind(plan, products[i], (int)i, false);
    plan_lengths(plan);
    plan_layouts(plan);
    plan_many(plan);
    plan_big(plan);
}

/* ---- Inputs -------------------------------------------------------------------------------- */

static int weight_of(int kind, int64_t row, kit_rng *rng)
{
    if (kind == EXTREME)
        return row % 2 ? -1 : 1;
    if (kind == SPARSE && kit_below(rng, 50))
        return 0;
    return (int)kit_below(rng, 3) - 1;
}

/* Fills packed rows with `weights` weights each; the rest of a row is zero. */
static void fill_packed(kit_tensor *t, int64_t weights, int kind, kit_rng *rng)
{
    int64_t bytes = t->shape[t->ndim - 1];
    for (int64_t r = 0; bytes > 0 && r < t->count / bytes; r++) {
        ternary_clear(COLLET_TERNARY_T2, t->data + r * bytes, weights);
        for (int64_t i = 0; i < weights; i++)
            ternary_write(COLLET_TERNARY_T2, t->data + r * bytes, weights, i,
                          weight_of(kind, r, rng));
    }
}

/* The largest magnitude of a row: near the smallest that is not quantized to 0, or near the largest
 * float. */
static float range_of(int64_t row)
{
    static const float largest[] = {0, 0x1p-100f, 0x0.ffffffp-100f, FLT_MAX, FLT_TRUE_MIN,
                                    1, 0x1p-99f,  0x1.8p127f,       1e-30f,  0x1p-101f};
    return largest[row % 10];
}

/* The greatest number to which x is quantized. */
static int greatest_of(const kit_case *c)
{
    return c->params.linear.activations == COLLET_TERNARY_INT4 ? 7 : 127;
}

/* `place`: the position of the number that is not finite in every third row. A row has at most one such number,
 * because a second would hide an implementation that ignores the first. */
static float x_of(const kit_case *c, int64_t row, int64_t i, int64_t place, kit_rng *rng)
{
    float sign = kit_next(rng) & 1 ? -1 : 1, t = c->params.linear.threshold;
    switch (c->kind) {
    case EXTREME:
        return row % 2 ? 3.25f : -3.25f;
    case NOT_FINITE:
        if (row % 3 == 0 && i == place)
            return kit_below(rng, 3) ? NAN : sign * INFINITY;
        if (row % 3 < 2 || kit_below(rng, 60))
            return (float)kit_normal(rng);
        return kit_below(rng, 3) ? sign * INFINITY : NAN;
    case TIES:
        /* The largest magnitude is 127 or 254 (for int4: 7 or 14), so quantization steps are 1 or 2. All other
         * numbers are halfway between steps. */
        if (c->params.linear.activations == COLLET_TERNARY_TERNARY)
            return kit_below(rng, 3) ? sign * t : sign * nextafterf(t, kit_below(rng, 2) ? 0 : 1);
        return sign * (i == 0 ? (float)greatest_of(c) : (float)kit_below(rng, greatest_of(c)) + 0.5f) * (row % 2 ? 2.0f : 1.0f);
    case RANGE:
        return i == 0 ? sign * range_of(row) : (float)kit_uniform(rng, -1, 1) * range_of(row);
    default:
        return (float)kit_normal(rng);
    }
}

static void fill_x(kit_case *c, kit_rng *rng)
{
    kit_tensor *x = &c->operand[2];
    int64_t columns = x->shape[x->ndim - 1], place = 0;
    for (int64_t i = 0; i < x->count; i++) {
        if (c->kind == NOT_FINITE && i % columns == 0)
            place = kit_below(rng, columns);
        if (x->dtype == COLLET_F32)
            kit_set(x, i, (long double)x_of(c, i / columns, i % columns, place, rng));
        else if (c->kind == EXTREME)
            kit_set(x, i, i / columns % 2 ? 127 : -128);
        else
            kit_set(x, i, (long double)(kit_below(rng, 256) - 128));
    }
}

static void fill_rows(const kit_case *c, kit_tensor *t, kit_rng *rng)
{
    if (t->dtype == COLLET_DTYPE_NONE)
        return;
    kit_ordinary(t, rng, 3);
    if (c->kind == SCALES)
        kit_sprinkle_specials(t, rng);
    if (c->kind == SPARSE || c->kind == RANGE) /* zeros of both signs */
        for (int64_t i = 0; i < t->count; i += 3)
            kit_set(t, i, i % 2 ? 0.0L : -0.0L);
}

static void generate_product(kit_case *c, kit_rng *rng)
{
    kit_tensor *weights = &c->operand[1], *x = &c->operand[2];
    int64_t most = 4 * weights->shape[weights->ndim - 1];
    /* A packed x allows any number of weights up to the end of its last block. */
    int64_t columns =
        x->dtype == COLLET_U8 ? most - (most > 0 ? kit_below(rng, 256) : 0) : x->shape[x->ndim - 1];
    if (c->row->info.id == COLLET_OP_TERNARY_DOT && c->big)
        columns = 10000000;
    fill_packed(weights, columns, c->kind, rng);
    if (x->dtype == COLLET_U8)
        fill_packed(x, columns, c->kind, rng);
    else
        fill_x(c, rng);
    if (c->row->info.id == COLLET_OP_TERNARY_LINEAR) {
        fill_rows(c, &c->operand[3], rng);
        fill_rows(c, &c->operand[4], rng);
    }
}

/* ---- Integers ------------------------------------------------------------------------------ */

/* The first `count` weights of each row of a packed operand, one per byte; the caller frees them. */
static int8_t *unpacked(const kit_tensor *t, int64_t count)
{
    int64_t bytes = t->shape[t->ndim - 1], rows = bytes > 0 ? t->count / bytes : 0;
    int8_t *codes = kit_memory((size_t)(rows * count));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t i = 0; i < count; i++)
            codes[r * count + i] =
                (int8_t)ternary_read(COLLET_TERNARY_T2, t->data + r * bytes, count, i);
    return codes;
}

static int64_t sum_of(const int8_t *w, const int8_t *x, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += w[i] * x[i];
    return sum;
}

static void judge_integers(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *y = &c->operand[0], *x = &c->operand[2];
    int64_t step = x->dtype == COLLET_U8 ? 4 : 1; /* codes of an element */
    int64_t m = y->ndim > 0 ? y->shape[y->ndim - 1] : 1, count = x->shape[x->ndim - 1] * step;
    int8_t *w = unpacked(&c->operand[1], count), *codes = step > 1 ? unpacked(x, count) : NULL;
    const int8_t *from = codes ? codes : (const int8_t *)x->data;
    for (int64_t r = 0; r < ternary_rows(c, 1); r++)
        for (int64_t i = 0; i < m; i++) {
            const int8_t *token = from + step * ternary_row(c, 2, 1, 1, r);
            int32_t ideal = (int32_t)sum_of(w + i * count, token, count);
            kit_same(c, v, 0, r * m + i, &ideal, true);
        }
    free(w);
    free(codes);
}

/* ---- Numbers ------------------------------------------------------------------------------- */

/* Sum of w x for a row of x, without and with the products of zero weights. */
typedef struct sum {
    long double left_out, multiplied, magnitude;
} sum;

static sum sum_of_numbers(const int8_t *w, const kit_tensor *x, int64_t first, int64_t count)
{
    sum s = {0, 0, 0};
    for (int64_t i = 0; i < count; i++) {
        long double value = kit_get(x, first + i);
        s.multiplied += w[i] * value;
        s.left_out += w[i] ? w[i] * value : 0;
        s.magnitude += isfinite(value) ? fabsl(value) : 0;
    }
    return s;
}

/* Computes one y = sum * scale + bias; relu replaces negative results by 0. */
static void judge_number(const kit_case *c, kit_verdict *v, int64_t at, sum s, long double scale,
                         long double bias, const kit_limit *limit)
{
    bool relu = c->row->info.id == COLLET_OP_TERNARY_LINEAR && c->params.linear.relu;
    long double ideal = s.left_out * scale + bias, other = s.multiplied * scale + bias;
    long double got = kit_get(&c->operand[0], at);
    if (isnan(got) && isnan(other))
        return;
    kit_near(c, v, 0, at, relu && ideal < 0 ? 0 : ideal, s.magnitude * fabsl(scale) + fabsl(bias),
             limit);
}

static float row_value(const kit_tensor *t, int64_t i, float absent)
{
    return t->dtype == COLLET_DTYPE_NONE ? absent : (float)kit_get(t, i);
}

static void judge_numbers(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *y = &c->operand[0], *x = &c->operand[2];
    bool linear = c->row->info.id == COLLET_OP_TERNARY_LINEAR;
    const kit_limit *limit = kit_limit_find(c->row->info.id, COLLET_F32, linear ? "sum" : "value");
    int64_t m = y->shape[y->ndim - 1], count = x->shape[x->ndim - 1];
    int8_t *w = unpacked(&c->operand[1], count);
    for (int64_t r = 0; r < ternary_rows(c, 1); r++)
        for (int64_t i = 0; i < m; i++) {
            sum s = sum_of_numbers(w + i * count, x, ternary_row(c, 2, 1, 1, r), count);
            float scale = linear ? row_value(&c->operand[3], i, 1) : 1;
            float bias = linear ? row_value(&c->operand[4], i, 0) : 0;
            judge_number(c, v, r * m + i, s, (long double)scale, (long double)bias, limit);
        }
    free(w);
}

/* ---- linear with quantized activations ----------------------------------------------------- */

/* Quantizes a row of x to integers; false: y is NaN. volatile, so that each operation is rounded to
 * f32. */
static bool quantize_row(const kit_case *c, int64_t first, int64_t count, int8_t *q, float *s)
{
    const kit_tensor *x = &c->operand[2];
    const float t = c->params.linear.threshold;
    float largest = 0;
    bool quantized = c->params.linear.activations != COLLET_TERNARY_TERNARY;
    *s = quantized ? 0 : 1;
    for (int64_t i = 0; i < count; i++) {
        float value = (float)kit_get(x, first + i);
        q[i] = (int8_t)((value > t) - (value < -t));
        if (quantized && !isfinite(value))
            return false;
        largest = fmaxf(largest, fabsf(value));
    }
    if (!quantized)
        return true;
    if (largest < 0x1p-100f) {
        memset(q, 0, (size_t)count);
        return true;
    }
    volatile float r = (float)greatest_of(c) / largest, share = largest / (float)greatest_of(c);
    for (int64_t i = 0; i < count; i++) {
        volatile float scaled = (float)kit_get(x, first + i) * r;
        q[i] = (int8_t)rintf(scaled);
    }
    *s = share;
    return true;
}

static float linear_value(const kit_case *c, int64_t row, int64_t total, float s)
{
    const kit_tensor *scale = &c->operand[3], *bias = &c->operand[4];
    volatile float y = (float)total, factor = s * row_value(scale, row, 1);
    y = y * factor;
    if (bias->dtype != COLLET_DTYPE_NONE)
        y = y + row_value(bias, row, 0);
    return c->params.linear.relu && y < 0 ? 0 : y;
}

static void judge_quantized(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *y = &c->operand[0], *x = &c->operand[2];
    int64_t m = y->shape[y->ndim - 1], count = x->shape[x->ndim - 1];
    int8_t *w = unpacked(&c->operand[1], count), *q = kit_memory((size_t)count);
    for (int64_t r = 0; r < ternary_rows(c, 1); r++) {
        float s;
        bool finite = quantize_row(c, ternary_row(c, 2, 1, 1, r), count, q, &s);
        for (int64_t i = 0; i < m; i++) {
            float ideal = NAN;
            if (finite)
                ideal = linear_value(c, i, sum_of(w + i * count, q, count), s);
            kit_same(c, v, 0, r * m + i, &ideal, false);
        }
    }
    free(w);
    free(q);
}

static void judge_product(const kit_case *c, kit_verdict *v)
{
    if (c->operand[0].dtype == COLLET_I32)
        judge_integers(c, v);
    else if (c->row->info.id == COLLET_OP_TERNARY_LINEAR &&
             c->params.linear.activations != COLLET_TERNARY_F32)
        judge_quantized(c, v);
    else
        judge_numbers(c, v);
}

const kit_op kit_ternary_product_ops[] = {
    {COLLET_OP_TERNARY_DOT, plan_dot, generate_product, judge_product},
    {COLLET_OP_TERNARY_MATMUL, plan_product, generate_product, judge_product},
    {COLLET_OP_TERNARY_LINEAR, plan_product, generate_product, judge_product},
    {0},
};
