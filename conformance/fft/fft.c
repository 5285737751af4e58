/* SPDX-License-Identifier: Apache-2.0 */
/* fft: each output is compared with its defining sum in long double. In small transforms all outputs are compared. In
 * large transforms of a single impulse all outputs are compared, too. In large transforms of random numbers the check
 * compares chosen outputs and the sum of squares (Parseval).
 * Tests: tests/conformance/test_broken.c */
#include "kit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FULL ((int64_t)1 << 14) /* outputs times inputs up to which all outputs are compared */
#define CHOSEN 24               /* outputs compared in a large transform */

enum { RANDOM, IMPULSE, NOT_FINITE, IDLE_NAN };
static const char *const kind_names[] = {"", "one impulse", "an element not finite",
                                         "NaN in ignored parts"};

/* ---- Cases --------------------------------------------------------------------------------- */

typedef struct transform {
    int32_t ndim, axes;
    int64_t shape[COLLET_MAX_DIMS];
} transform;

static bool is_real(collet_dtype dtype)
{
    return kit_part(dtype) == dtype;
}

static kit_case transformed(const kit_plan *plan, const transform *t, bool inverse, int kind)
{
    kit_case c = kit_case_of(plan);
    int64_t half[COLLET_MAX_DIMS];
    memcpy(half, t->shape, sizeof half);
    if (half[t->ndim - 1] > 0)
        half[t->ndim - 1] = half[t->ndim - 1] / 2 + 1;
    kit_shape(&c, 0, t->ndim, is_real(plan->row->dtypes[1]) ? half : t->shape);
    kit_shape(&c, 1, t->ndim, is_real(plan->row->dtypes[0]) ? half : t->shape);
    c.params.fft = (collet_fft_params){
        .struct_size = sizeof c.params.fft, .last_axes = (uint32_t)t->axes, .inverse = inverse};
    c.kind = kind;
    c.data = kind_names[kind];
    return c;
}

/* Emits both directions if the op has two. */
static void each_direction(kit_plan *plan, const transform *t, int kind, bool big,
                           void (*emit)(kit_plan *plan, const kit_case *c))
{
    for (int inverse = 0; inverse < 2; inverse++) {
        if (is_real(plan->row->dtypes[inverse ? 1 : 0]))
            continue;
        if (inverse == 0 && is_real(plan->row->dtypes[0]))
            continue;
        kit_case c = transformed(plan, t, inverse, kind);
        c.big = big;
        emit(plan, &c);
    }
}

/* NaN in the ignored imaginary parts of a half spectrum: frequency 0 and half the length. */
static void plan_idle(kit_plan *plan)
{
    static const transform lines[] = {{1, 1, {1}},    {1, 1, {2}},     {1, 1, {15}},
                                      {1, 1, {67}},   {1, 1, {512}},   {1, 1, {4099}},
                                      {1, 1, {5040}}, {2, 1, {20, 8}}, {2, 1, {20, 9}}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines && is_real(plan->row->dtypes[0]); i++)
        each_direction(plan, &lines[i], IDLE_NAN, false, kit_emit);
}

static void plan_fft(kit_plan *plan)
{
    static const int64_t lengths[] = {49,   61,   64,   67,   81,   97,   100,  121,  125,
                                      127,  128,  134,  143,  169,  187,  201,  243,  256,
                                      289,  343,  360,  499,  512,  720,  1000, 1009, 1024,
                                      1155, 2048, 2187, 2401, 3125, 4096, 4099, 5040};
    static const transform shapes[] = {
        {2, 1, {3, 0}},          {2, 1, {0, 4}},
        {2, 2, {0, 4}},          {2, 2, {4, 0}},
        {2, 1, {1, 1}},          {2, 2, {1, 1}},
        {2, 2, {3, 4}},          {2, 2, {5, 7}},
        {2, 2, {1, 6}},          {2, 2, {6, 1}},
        {2, 2, {8, 8}},          {2, 2, {16, 15}},
        {2, 2, {31, 9}},         {2, 2, {67, 5}},
        {2, 2, {2, 67}},         {2, 2, {32, 33}},
        {3, 3, {2, 2, 2}},       {3, 3, {3, 4, 5}},
        {3, 3, {4, 6, 8}},       {3, 3, {7, 1, 3}},
        {3, 3, {12, 10, 8}},     {3, 3, {16, 16, 16}},
        {3, 1, {2, 3, 8}},       {3, 2, {3, 4, 5}},
        {4, 3, {2, 4, 3, 6}},    {2, 1, {17, 8}},
        {2, 1, {40, 12}},        {2, 1, {33, 67}},
        {2, 1, {20, 128}},       {2, 1, {3, 1024}},
        {5, 2, {2, 1, 3, 4, 6}}, {8, 3, {1, 2, 1, 2, 1, 2, 3, 4}},
        {3, 2, {19, 16, 18}},    {4, 3, {17, 4, 3, 6}},
        {3, 3, {18, 8, 20}},     {4, 3, {5, 4, 8, 16}},
        {2, 2, {1031, 3}},
    };
    static const transform strided[] = {{1, 1, {12}},       {1, 1, {15}},       {2, 1, {5, 16}},
                                        {2, 2, {9, 6}},     {3, 2, {3, 4, 5}},  {3, 3, {4, 3, 2}},
                                        {2, 1, {19, 7}},    {1, 1, {256}},      {2, 2, {48, 20}},
                                        {3, 2, {16, 4, 6}}, {3, 3, {16, 16, 4}}};
    static const transform large[] = {{1, 1, {65536}},    {1, 1, {65537}},    {1, 1, {255255}},
                                      {1, 1, {1 << 20}},  {2, 2, {512, 512}}, {3, 3, {64, 64, 64}},
                                      {2, 1, {3, 70000}}, {2, 1, {40, 4099}}, {2, 2, {300, 1001}}};
    for (int64_t n = 0; n <= 40; n++) {
        const transform t = {1, 1, {n}};
        each_direction(plan, &t, RANDOM, false, kit_emit);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const transform t = {1, 1, {lengths[i]}};
        each_direction(plan, &t, RANDOM, false, kit_emit);
        each_direction(plan, &t, i % 4 ? IMPULSE : NOT_FINITE, false, kit_emit);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int kind = RANDOM; kind <= NOT_FINITE; kind++)
            each_direction(plan, &shapes[i], kind, false, kit_emit);
    for (size_t i = 0; i < sizeof strided / sizeof *strided; i++) {
        each_direction(plan, &strided[i], RANDOM, false, kit_emit_layouts);
        if (i < 5)
            each_direction(plan, &strided[i], RANDOM, false, kit_emit_sharing);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        each_direction(plan, &large[i], RANDOM, true, kit_emit);
        each_direction(plan, &large[i], IMPULSE, true, kit_emit);
    }
    plan_idle(plan);
}

/* Elements of one transform in an operand. */
static int64_t block_of(const kit_case *c, const kit_tensor *t)
{
    int64_t block = 1;
    for (uint32_t i = 0; i < c->params.fft.last_axes; i++)
        block *= t->shape[t->ndim - 1 - (int32_t)i];
    return block;
}

static void generate_fft(kit_case *c, kit_rng *rng)
{
    static const long double special[] = {(long double)NAN, (long double)INFINITY,
                                          -(long double)INFINITY};
    kit_tensor *t = &c->operand[1];
    int64_t halves = is_real(t->dtype) ? 1 : 2, block = block_of(c, t);
    for (int64_t i = 0; i < t->count * halves; i++)
        kit_set(t, i, c->kind == IMPULSE ? 0 : kit_normal(rng));
    for (int64_t b = 0; block > 0 && b < t->count / block; b++) {
        int64_t at = (b * block + kit_below(rng, block)) * halves;
        for (int64_t h = 0; c->kind == IMPULSE && h < halves; h++)
            kit_set(t, at + h, kit_normal(rng));
        /* The real part, because some imaginary parts of a half spectrum are ignored. */
        if (c->kind == NOT_FINITE && b % 2 == 0)
            kit_set(t, at, special[kit_below(rng, 3)]);
        int64_t n = c->operand[0].shape[c->operand[0].ndim - 1];
        for (int64_t k = 0; c->kind == IDLE_NAN && 2 * k <= n; k++)
            if (k == 0 || 2 * k == n)
                kit_set(t, 2 * (b * block + k) + 1, (long double)NAN);
    }
}

/* ---- The oracle ---------------------------------------------------------------------------- */

typedef struct number {
    long double re, im;
} number;

typedef struct oracle {
    const kit_case *c;
    int32_t axes;
    int64_t n[3], in[3], out[3]; /* lengths, extents of the operands; last axis last */
    int64_t in_block, out_block, points;
    number *root[3]; /* exp(+-2 pi i k / n), k < n */
    bool from_half;
} oracle;

static void oracle_open(oracle *o, const kit_case *c)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    const long double turn = acosl(-1.0L) * (c->params.fft.inverse ? 2 : -2);
    *o = (oracle){.c = c,
                  .axes = (int32_t)c->params.fft.last_axes,
                  .in_block = block_of(c, in),
                  .out_block = block_of(c, out),
                  .points = 1,
                  .from_half = is_real(out->dtype)};
    for (int32_t a = 0; a < o->axes; a++) {
        int32_t axis = out->ndim - o->axes + a;
        o->in[a] = in->shape[axis];
        o->out[a] = out->shape[axis];
        o->n[a] = is_real(in->dtype) ? o->in[a] : o->out[a];
        o->points *= o->n[a];
        o->root[a] = kit_memory((size_t)o->n[a] * sizeof **o->root);
        for (int64_t k = 0; k < o->n[a]; k++) {
            long double angle = turn * (long double)k / (long double)o->n[a];
            o->root[a][k] = (number){kit_cos(angle), kit_sin(angle)};
        }
    }
}

static void oracle_close(oracle *o)
{
    for (int32_t a = 0; a < o->axes; a++)
        free(o->root[a]);
}

static number value(const kit_tensor *t, int64_t i)
{
    if (is_real(t->dtype))
        return (number){kit_get(t, i), 0};
    return (number){kit_get(t, 2 * i), kit_get(t, 2 * i + 1)};
}

/* Multiplicity of an element of a half spectrum: 2 if its conjugate is omitted. */
static int weight(const oracle *o, int64_t last)
{
    int64_t n = o->n[o->axes - 1];
    return o->from_half && last > 0 && 2 * last != n ? 2 : 1;
}

/* Input i of the block that begins at `first`, without an ignored imaginary part. */
static number input(const oracle *o, int64_t first, int64_t i)
{
    number x = value(kit_in(o->c, 0), first + i);
    if (o->from_half && o->axes == 1 && weight(o, i) == 1)
        x.im = 0;
    return x;
}

/* Contribution of input i of a block to its output `at`. */
static number term(const oracle *o, int64_t first, int64_t i, const int64_t at[3])
{
    number x = input(o, first, i);
    int64_t last = i % o->in[o->axes - 1];
    for (int32_t a = o->axes - 1; a >= 0; a--) {
        number w = o->root[a][i % o->in[a] * at[a] % o->n[a]];
        x = (number){x.re * w.re - x.im * w.im, x.re * w.im + x.im * w.re};
        i /= o->in[a];
    }
    x.re *= weight(o, last);
    x.im *= weight(o, last);
    return o->from_half ? (number){x.re, 0} : x;
}

/* Expected output k of block b, from all inputs (`only` < 0) or from input `only`. */
static number expected(const oracle *o, int64_t b, int64_t k, int64_t only)
{
    int64_t at[3], first = only < 0 ? 0 : only, end = only < 0 ? o->in_block : only + 1;
    number sum = {0, 0};
    for (int32_t a = o->axes - 1; a >= 0; a--) {
        at[a] = k % o->out[a];
        k /= o->out[a];
    }
    for (int64_t i = first; i < end; i++) {
        number t = term(o, b * o->in_block, i, at);
        sum.re += t.re;
        sum.im += t.im;
    }
    long double scale = o->c->params.fft.inverse ? (long double)o->points : 1;
    return (number){sum.re / scale, sum.im / scale};
}

static long double square(number x)
{
    return x.re * x.re + x.im * x.im;
}

/* ---- Judging ------------------------------------------------------------------------------- */

/* Unit of errors: eps (1 + log2 of the points). */
static long double unit(const oracle *o)
{
    return ldexpl(1 + log2l((long double)o->points), 1 - kit_precision(o->c->operand[0].dtype));
}

static void judge_error(const oracle *o, kit_verdict *v, int64_t block, long double error,
                        const char *what)
{
    const kit_limit *limit = kit_limit_find(COLLET_OP_FFT, o->c->operand[0].dtype, "error");
    double units = (double)(error / unit(o));
    if (kit_exceeds(v, limit, units))
        kit_fail(v, "%s of transform %lld: the error is %.3g %s, the limit is %.3g", what,
                 (long long)block, units, limit->unit, limit->limit);
}

/* Sum |x|^2 of a block's inputs, including the omitted half of a half spectrum. */
static long double energy(const oracle *o, int64_t b)
{
    long double sum = 0;
    for (int64_t i = 0; i < o->in_block; i++) {
        number x = value(kit_in(o->c, 0), b * o->in_block + i);
        int64_t last = i % o->in[o->axes - 1];
        if (o->from_half && weight(o, last) == 1)
            x.im = 0;
        sum += weight(o, last) * square(x);
    }
    return sum;
}

/* Compares outputs of a block with the expected sums. The error is relative to the norm of these
 * outputs. For chosen outputs, it is relative to the norm of as many average outputs if that is
 * larger: the error of a small output comes from all inputs. */
static void judge_outputs(const oracle *o, kit_verdict *v, int64_t b, int64_t only,
                          const int64_t *chosen, int64_t count)
{
    const kit_tensor *out = &o->c->operand[0];
    long double difference = 0, size = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t k = chosen ? chosen[i] : i;
        number ideal = expected(o, b, k, only), got = value(out, b * o->out_block + k);
        difference += square((number){got.re - ideal.re, got.im - ideal.im});
        size += square(ideal);
    }
    if (chosen) {
        long double points = (long double)o->points;
        long double average = energy(o, b) / (o->c->params.fft.inverse ? points * points : 1);
        size = fmaxl(size, (long double)count * average);
    }
    if (difference == 0)
        judge_error(o, v, b, 0, "the outputs");
    else
        judge_error(o, v, b, sqrtl(difference / size), chosen ? "chosen outputs" : "the outputs");
}

/* Sum |X|^2 = N sum |x|^2, including omitted halves. Not checked for real outputs of several
 * axes, where ignored imaginary parts are mixed with other parts. */
static void judge_total(const oracle *o, kit_verdict *v, int64_t b)
{
    const kit_tensor *out = &o->c->operand[0], *in = kit_in(o->c, 0);
    int64_t n = o->n[o->axes - 1], out_last = o->out[o->axes - 1];
    long double before = energy(o, b), after = 0;
    if (o->from_half && o->axes > 1)
        return;
    for (int64_t i = 0; i < o->out_block; i++) {
        int64_t last = i % out_last;
        bool twice = is_real(in->dtype) && last > 0 && 2 * last != n;
        after += (twice ? 2 : 1) * square(value(out, b * o->out_block + i));
    }
    if (o->c->params.fft.inverse)
        after *= (long double)o->points;
    else
        before *= (long double)o->points;
    judge_error(o, v, b, fabsl(sqrtl(after / before) - 1), "the sum of squares");
}

/* The element that is not finite must affect every output; an element of a half spectrum must affect at least one. */
static void judge_spread(const oracle *o, kit_verdict *v, int64_t b)
{
    const kit_tensor *out = &o->c->operand[0];
    int64_t finite = 0, last = 0;
    for (int64_t k = 0; k < o->out_block; k++) {
        number got = value(out, b * o->out_block + k);
        if (isfinite(got.re) && isfinite(got.im)) {
            finite++;
            last = k;
        }
    }
    if (finite > 0 && (!o->from_half || finite == o->out_block)) {
        char where[128];
        kit_where(o->c, 0, (b * o->out_block + last) * (is_real(out->dtype) ? 1 : 2), where);
        kit_fail(v, "%s is finite, though an input of its transform is not", where);
    }
}

/* Index of the only input of a block that is not 0; any index if all are 0. */
static int64_t impulse_of(const oracle *o, int64_t b)
{
    for (int64_t i = 0; i < o->in_block; i++)
        if (square(value(kit_in(o->c, 0), b * o->in_block + i)) != 0)
            return i;
    return 0;
}

static void choose(const oracle *o, int64_t b, int64_t chosen[CHOSEN])
{
    kit_rng rng = {.state = (uint64_t)(b + 1)};
    chosen[0] = 0;
    chosen[1] = o->out_block - 1;
    chosen[2] = o->out_block / 2;
    chosen[3] = o->out_block > 1;
    for (int i = 4; i < CHOSEN; i++)
        chosen[i] = kit_below(&rng, o->out_block);
}

static bool all_finite(const oracle *o, int64_t b)
{
    for (int64_t i = 0; i < o->in_block; i++) {
        number x = input(o, b * o->in_block, i);
        if (!isfinite(x.re) || !isfinite(x.im))
            return false;
    }
    return true;
}

static void judge_fft(const kit_case *c, kit_verdict *v)
{
    int64_t chosen[CHOSEN];
    oracle o;
    oracle_open(&o, c);
    bool full = o.in_block * o.out_block <= FULL;
    int64_t blocks = o.out_block > 0 ? c->operand[0].count / o.out_block : 0;
    for (int64_t b = 0; b < blocks; b++) {
        if (!all_finite(&o, b)) {
            judge_spread(&o, v, b);
        } else if (c->kind == IMPULSE) {
            judge_outputs(&o, v, b, impulse_of(&o, b), NULL, o.out_block);
        } else if (full) {
            judge_outputs(&o, v, b, -1, NULL, o.out_block);
        } else {
            choose(&o, b, chosen);
            judge_outputs(&o, v, b, -1, chosen, CHOSEN);
            judge_total(&o, v, b);
        }
    }
    oracle_close(&o);
}

/* ---- fftshift ------------------------------------------------------------------------------ */

static kit_case shifted(const kit_plan *plan, const transform *t, uint32_t axes, bool inverse)
{
    kit_case c = kit_case_of(plan);
    kit_shape(&c, 0, t->ndim, t->shape);
    kit_shape(&c, 1, t->ndim, t->shape);
    c.params.fftshift = (collet_fftshift_params){
        .struct_size = sizeof c.params.fftshift, .axes = axes, .inverse = inverse};
    return c;
}

static void plan_fftshift(kit_plan *plan)
{
    static const transform shapes[] = {
        {0, 0, {0}},
        {1, 0, {0}},
        {1, 0, {1}},
        {1, 0, {2}},
        {1, 0, {3}},
        {1, 0, {16}},
        {1, 0, {17}},
        {2, 0, {5, 6}},
        {2, 0, {1, 7}},
        {2, 0, {0, 3}},
        {3, 0, {4, 5, 7}},
        {4, 0, {2, 3, 4, 5}},
        {8, 0, {2, 1, 3, 2, 1, 3, 2, 2}},
    };
    static const transform strided[] = {{1, 0, {9}}, {2, 0, {6, 5}}, {3, 0, {3, 4, 5}}};
    static const transform big = {2, 0, {513, 1024}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (uint32_t axes = 0; axes < 1u << shapes[i].ndim; axes++)
            for (int inverse = 0; inverse < 2; inverse++) {
                kit_case c = shifted(plan, &shapes[i], axes, inverse);
                kit_emit(plan, &c);
            }
    for (size_t i = 0; i < sizeof strided / sizeof *strided; i++)
        for (int inverse = 0; inverse < 2; inverse++) {
            kit_case c = shifted(plan, &strided[i], (1u << strided[i].ndim) - 1, inverse);
            kit_emit_layouts(plan, &c);
            kit_emit_sharing(plan, &c);
        }
    kit_case c = shifted(plan, &big, 3, false);
    c.big = true;
    kit_emit(plan, &c);
}

static void generate_fftshift(kit_case *c, kit_rng *rng)
{
    kit_random_bits(&c->operand[1], rng);
}

static void judge_fftshift(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0], *in = kit_in(c, 0);
    int64_t halves = is_real(out->dtype) ? 1 : 2;
    for (int64_t i = 0; i < out->count; i++) {
        int64_t rest = i, from = 0, scale = 1;
        for (int32_t a = out->ndim - 1; a >= 0; a--) {
            int64_t n = out->shape[a], roll = c->params.fftshift.inverse ? n - n / 2 : n / 2;
            int64_t at = rest % n;
            if (c->params.fftshift.axes >> a & 1)
                at = (at + n - roll) % n;
            from += at * scale;
            scale *= n;
            rest /= n;
        }
        for (int64_t h = 0; h < halves; h++)
            kit_same(c, v, 0, i * halves + h, kit_at(in, from * halves + h), true);
    }
}

const kit_op kit_fft_ops[] = {
    {COLLET_OP_FFT, plan_fft, generate_fft, judge_fft},
    {COLLET_OP_FFTSHIFT, plan_fftshift, generate_fftshift, judge_fftshift},
    {0},
};
