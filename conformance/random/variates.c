/* SPDX-License-Identifier: Apache-2.0 */
/* random: integers and variate. Implements the algorithms of docs/kernels/random.md. Proposals are computed in
 * double, because docs/kernels/random.md defines their bits. Decisions use the formulas in long double.
 * Tests: tests/conformance/defects.sh */
#include "kit.h"

#include <math.h>

#include "random.h"

static const long double pi = 3.14159265358979323846264338327950288L;

/* ---- Numbers of an element ------------------------------------------------------------------- */

typedef struct source {
    uint64_t seed, element;
    uint32_t block;
    double u, v;
} source;

static double open_fraction(uint32_t low, uint32_t high)
{
    return ldexp((double)(((uint64_t)high << 32 | low) >> 12) + 0.5, -52);
}

static void draw(source *s)
{
    uint32_t x[4];
    kit_philox(s->seed, s->element, s->block++, 2, x);
    s->u = open_fraction(x[0], x[1]);
    s->v = open_fraction(x[2], x[3]);
}

static long double power_of_e(long double x)
{
    return kit_function(COLLET_OP_EXP, x);
}

/* ln n!, by Stirling's series from n + 20. */
static long double log_factorial(double n)
{
    long double below = 1, m = n;
    while (m < 20)
        below *= ++m;
    long double z = 1 / (m * m);
    long double tail = (1.0L / 12 - z * (1.0L / 360 - z * (1.0L / 1260 - z * (1.0L / 1680 - z / 1188)))) / m;
    return (m + 0.5L) * kit_log(m) - m + 0.5L * kit_log(2 * pi) + tail - kit_log(below);
}

static long double log_ways(double n, double k)
{
    return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/* ---- Distributions --------------------------------------------------------------------------- */

static long double gamma_variate(source *s, double a, bool logarithm)
{
    long double power = 0;
    double shape = a > 1 ? a : a + 1, c = shape - 1, ratio = (shape - 1 / (6 * shape)) / c, w;
    if (a <= 1) {
        draw(s);
        power = kit_log(s->u) / a;
    }
    for (;;) {
        draw(s);
        double slope = shape > 2.5 ? 1 / sqrt(shape) : 0;
        double u = shape > 2.5 ? s->v + slope * (1 - 1.86 * s->u) : s->u;
        if (u <= 0 || u >= 1)
            continue;
        w = ratio * (s->v / u);
        if (2 / (long double)c * kit_log(u) - kit_log(w) + w - 1 < 0)
            break;
    }
    w *= c;
    return logarithm ? kit_log(w) + power : w * power_of_e(power);
}

/* Poisson if n is infinite. */
static long double log_count(double k, double n, double p, double mean)
{
    if (!isfinite(n))
        return k * kit_log(mean) - mean - log_factorial(k);
    return log_ways(n, k) + k * kit_log(p) + (n - k) * kit_log(1 - (long double)p);
}

static double count_variate(source *s, double n, double p, double mean)
{
    draw(s);
    if (mean < 10) {
        long double term = isfinite(n) ? power_of_e(n * kit_log(1 - (long double)p)) : power_of_e(-mean);
        long double u = s->u;
        double k = 0;
        for (; u > term && k < n && k < 150; k++) {
            u -= term;
            term *= isfinite(n) ? (n - k) / (k + 1) * (p / (1 - (long double)p)) : mean / (k + 1);
        }
        return k;
    }
    double deviation = sqrt(isfinite(n) ? mean * (1 - p) : mean);
    double b = isfinite(n) ? 1.15 + 2.53 * deviation : 0.931 + 2.53 * deviation;
    double a = isfinite(n) ? 0.0248 * b - 0.0873 + 0.01 * p : 0.02483 * b - 0.059;
    double centre = isfinite(n) ? mean + 0.5 : mean + 0.43;
    double quick = isfinite(n) ? 0.92 - 4.2 / b : 0.9277 - 3.6224 / (b - 2);
    long double scale = isfinite(n) ? kit_log((2.83 + 5.1 / b) * deviation) +
                                          log_count(floor((n + 1) * p), n, p, mean)
                                    : kit_log(1.1239 + 1.1328 / (b - 3.4));
    for (;; draw(s)) {
        double u = s->u - 0.5, room = 0.5 - fabs(u), k = floor((2 * a / room + b) * u + centre);
        if (room >= 0.07 && s->v <= quick)
            return k;
        if (k >= 0 && k <= n &&
            kit_log(s->v / (a / (room * room) + b)) + scale <= log_count(k, n, p, mean))
            return k;
    }
}

static double binomial_variate(source *s, double n, double p)
{
    double smaller = p > 0.5 ? 1 - p : p, k = count_variate(s, n, smaller, n * smaller);
    return p > 0.5 ? n - k : k;
}

static double hypergeometric_variate(source *s, double good, double bad, double drawn)
{
    double total = good + bad, few = fmin(good, bad), many = fmax(good, bad);
    double taken = fmin(drawn, total - drawn), k = 0;
    if (taken < 10) {
        for (double i = 0; i < taken; i++) {
            draw(s);
            k += s->u * (total - i) < few - k;
        }
    } else {
        double mean = taken * (few / total);
        double variance = mean * (many / total) * ((total - taken) / (total - 1));
        double deviation = sqrt(variance + 0.5);
        double width = 1.7155277699214135 * deviation + 0.8989161620588988;
        double beyond = fmin(fmin(taken, few) + 1, floor(mean + 0.5 + 16 * deviation));
        double mode = floor((taken + 1) * ((few + 1) / (total + 2)));
        long double top = log_ways(few, mode) + log_ways(many, taken - mode), here;
        do {
            double x;
            do {
                draw(s);
                x = mean + 0.5 + width * (s->v - 0.5) / s->u;
            } while (x < 0 || x >= beyond);
            k = floor(x);
            here = log_ways(few, k) + log_ways(many, taken - k);
        } while (2 * kit_log(s->u) > here - top);
    }
    k = good > bad ? taken - k : k;
    return taken < drawn ? good - k : k;
}

static double vonmises_variate(source *s, double kappa)
{
    double width = kappa > 1.3 ? 1 / sqrt(kappa) : (double)(pi * power_of_e(-kappa)), angle;
    do {
        do {
            draw(s);
            angle = width * (2 * s->v - 1) / s->u;
        } while (fabs(angle) > 3.14159265358979312);
    } while (2 * kit_log(s->u) > kappa * (kit_cos(angle) - 1));
    return angle;
}

static double zipf_variate(source *s, double a)
{
    long double power = a - 1, ratio = power_of_e(power * kit_log(2)), step, k;
    long double beyond = power_of_e(-power * 63 * kit_log(2)) - 1;
    do {
        draw(s);
        k = floorl(power_of_e(-kit_log(1 + s->u * beyond) / power));
        step = power_of_e(power * kit_log(1 + 1 / k));
    } while (s->v * k * (step - 1) / (ratio - 1) > step / ratio);
    return (double)k;
}

static double logseries_variate(source *s, double p)
{
    draw(s);
    long double q = 1 - power_of_e(s->u * kit_log(1 - (long double)p));
    return s->v >= p || s->v > q ? 1 : s->v > q * q ? 2 : (double)floorl(1 + kit_log(s->v) / kit_log(q));
}

static long double variate(uint32_t distribution, source *s, double a, double b, double c)
{
    switch (distribution) {
    case COLLET_VARIATE_GAMMA:
        return gamma_variate(s, a, false);
    case COLLET_VARIATE_LOG_GAMMA:
        return gamma_variate(s, a, true);
    case COLLET_VARIATE_POISSON:
        return count_variate(s, (double)INFINITY, 0, a);
    case COLLET_VARIATE_BINOMIAL:
        return binomial_variate(s, a, b);
    case COLLET_VARIATE_GEOMETRIC:
        draw(s);
        return a < 1 ? floorl(kit_log(s->u) / kit_log(1 - (long double)a)) + 1 : 1;
    case COLLET_VARIATE_HYPERGEOMETRIC:
        return hypergeometric_variate(s, a, b, c);
    case COLLET_VARIATE_LOGSERIES:
        return logseries_variate(s, a);
    case COLLET_VARIATE_ZIPF:
        return zipf_variate(s, a);
    default:
        return vonmises_variate(s, a);
    }
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* Parameters on each side of the limits at which an algorithm changes. */
static const struct {
    uint32_t distribution;
    const char *name;
    double value[3];
} laws[] = {
    {COLLET_VARIATE_GAMMA, "gamma", {0.25, 0, 0}},
    {COLLET_VARIATE_GAMMA, "gamma", {1, 0, 0}},
    {COLLET_VARIATE_GAMMA, "gamma", {2, 0, 0}},
    {COLLET_VARIATE_GAMMA, "gamma", {1e4, 0, 0}},
    {COLLET_VARIATE_LOG_GAMMA, "log_gamma", {0.01, 0, 0}},
    {COLLET_VARIATE_LOG_GAMMA, "log_gamma", {7, 0, 0}},
    {COLLET_VARIATE_POISSON, "poisson", {0.5, 0, 0}},
    {COLLET_VARIATE_POISSON, "poisson", {9.75, 0, 0}},
    {COLLET_VARIATE_POISSON, "poisson", {10, 0, 0}},
    {COLLET_VARIATE_POISSON, "poisson", {1e6, 0, 0}},
    {COLLET_VARIATE_BINOMIAL, "binomial", {7, 0.75, 0}},
    {COLLET_VARIATE_BINOMIAL, "binomial", {1e12, 0x1p-40, 0}},
    {COLLET_VARIATE_BINOMIAL, "binomial", {40, 0.5, 0}},
    {COLLET_VARIATE_BINOMIAL, "binomial", {1e6, 0.875, 0}},
    {COLLET_VARIATE_GEOMETRIC, "geometric", {0.5, 0, 0}},
    {COLLET_VARIATE_GEOMETRIC, "geometric", {1, 0, 0}},
    {COLLET_VARIATE_GEOMETRIC, "geometric", {0x1p-20, 0, 0}},
    {COLLET_VARIATE_HYPERGEOMETRIC, "hypergeometric", {30, 9, 5}},
    {COLLET_VARIATE_HYPERGEOMETRIC, "hypergeometric", {30, 90, 100}},
    {COLLET_VARIATE_HYPERGEOMETRIC, "hypergeometric", {5000, 2000, 40}},
    {COLLET_VARIATE_LOGSERIES, "logseries", {0.25, 0, 0}},
    {COLLET_VARIATE_LOGSERIES, "logseries", {0.96875, 0, 0}},
    {COLLET_VARIATE_ZIPF, "zipf", {2, 0, 0}},
    {COLLET_VARIATE_ZIPF, "zipf", {3.5, 0, 0}},
    {COLLET_VARIATE_VONMISES, "vonmises", {0.5, 0, 0}},
    {COLLET_VARIATE_VONMISES, "vonmises", {4, 0, 0}},
    {COLLET_VARIATE_VONMISES, "vonmises", {1e4, 0, 0}},
};
#define LAWS (int)(sizeof laws / sizeof *laws)

/* Inputs without axes, or with all axes of the output and the parameters of all laws of the distribution. */
static kit_case of_law(const kit_plan *plan, int law, int32_t ndim, const int64_t *extent, bool many)
{
    kit_case c = kit_case_of(plan);
    c.kind = law;
    c.data = laws[law].name;
    kit_shape(&c, 0, ndim, extent);
    uint32_t used = laws[law].distribution == COLLET_VARIATE_HYPERGEOMETRIC ? 3
                    : laws[law].distribution == COLLET_VARIATE_BINOMIAL     ? 2
                                                                            : 1;
    for (uint32_t k = 1; k < 4; k++)
        if (k <= used)
            kit_shape(&c, k, many ? ndim : 0, extent);
        else
            kit_absent(&c, k);
    return c;
}

static void plan_variates(kit_plan *plan)
{
    static const int64_t lengths[] = {300, 0, 1, 5}, shape[] = {3, 5, 7}, big[] = {5000};
    for (int law = 0; law < LAWS; law++) {
        kit_case c = of_law(plan, law, 1, &lengths[0], false);
        kit_emit(plan, &c);
        if (law > 0 && laws[law].distribution == laws[law - 1].distribution)
            continue;
        for (size_t i = 1; i < sizeof lengths / sizeof *lengths; i++) {
            c = of_law(plan, law, 1, &lengths[i], i % 2);
            kit_emit(plan, &c);
        }
        c = of_law(plan, law, 3, shape, true);
        kit_emit_layouts(plan, &c);
        c = of_law(plan, law, 1, big, true);
        kit_emit(plan, &c);
    }
}

static void generate_variates(kit_case *c, kit_rng *rng)
{
    int first = c->kind, count = 1;
    while (first > 0 && laws[first - 1].distribution == laws[c->kind].distribution)
        first--;
    while (first + count < LAWS && laws[first + count].distribution == laws[c->kind].distribution)
        count++;
    for (uint32_t k = 1; k < 4; k++)
        for (int64_t i = 0; c->operand[k].dtype != COLLET_DTYPE_NONE && i < c->operand[k].count; i++)
            kit_set(&c->operand[k], i,
                    laws[c->operand[k].ndim ? first + i % count : c->kind].value[k - 1]);
    c->params.variate = (collet_variate_params){.struct_size = sizeof c->params.variate,
                                                .distribution = laws[c->kind].distribution,
                                                .seed = kit_next(rng),
                                                .offset = kit_next(rng)};
    if (kit_below(rng, 4) == 0)
        c->params.variate.offset = 0 - (uint64_t)kit_below(rng, c->operand[0].count + 1);
}

static double parameter(const kit_case *c, uint32_t k, int64_t i)
{
    const kit_tensor *t = &c->operand[k];
    return t->dtype == COLLET_DTYPE_NONE ? 0 : (double)kit_get(t, t->ndim ? i : 0);
}

static void judge_variates(const kit_case *c, kit_verdict *v)
{
    const collet_variate_params *p = &c->params.variate;
    const kit_limit *limit = kit_limit_find(COLLET_OP_VARIATE, COLLET_F64, "value");
    bool real = p->distribution == COLLET_VARIATE_GAMMA || p->distribution == COLLET_VARIATE_LOG_GAMMA ||
                p->distribution == COLLET_VARIATE_VONMISES;
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        source s = {.seed = p->seed, .element = p->offset + (uint64_t)i};
        long double ideal =
            variate(p->distribution, &s, parameter(c, 1, i), parameter(c, 2, i), parameter(c, 3, i));
        unsigned char bits[16];
        kit_convert(c->operand[0].dtype, ideal, bits);
        if (real && c->operand[0].dtype == COLLET_F64)
            kit_near(c, v, 0, i, ideal,
                     fabsl(ideal) + (p->distribution == COLLET_VARIATE_LOG_GAMMA), limit);
        else
            kit_same(c, v, 0, i, bits, true);
    }
}

/* ---- Integers -------------------------------------------------------------------------------- */

static void plan_integers(kit_plan *plan)
{
    static const int64_t lengths[] = {0, 1, 5, 300, 3000}, shape[] = {3, 5, 7};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        kit_case c = kit_case_of(plan);
        for (uint32_t k = 0; k < 3; k++)
            kit_shape(&c, k, k == 0 || i % 2, &lengths[i]);
        kit_emit(plan, &c);
    }
    for (int several = 0; several < 12; several++) { /* a span that all elements share */
        kit_case c = kit_case_of(plan);
        kit_shape(&c, 0, 1, &lengths[3]);
        for (uint32_t k = 1; k < 3; k++)
            kit_shape(&c, k, 0, NULL);
        kit_emit(plan, &c);
    }
    kit_case c = kit_case_of(plan);
    for (uint32_t k = 0; k < 3; k++)
        kit_shape(&c, k, 3, shape);
    kit_emit_layouts(plan, &c);
}

/* Spans for which numbers are rejected seldom, half of the time, and never. */
static void generate_integers(kit_case *c, kit_rng *rng)
{
    static const uint64_t spans[] = {0, 1, 9, 1000, UINT32_MAX, (uint64_t)1 << 63, ((uint64_t)1 << 63) + 1,
                                     UINT64_MAX - 1, UINT64_MAX};
    for (int64_t i = 0; i < c->operand[1].count; i++)
        ((uint64_t *)(void *)c->operand[1].data)[i] = kit_next(rng);
    for (int64_t i = 0; i < c->operand[2].count; i++)
        ((uint64_t *)(void *)c->operand[2].data)[i] =
            spans[kit_below(rng, sizeof spans / sizeof *spans)];
    c->params.random = (collet_random_params){.struct_size = sizeof c->params.random,
                                              .seed = kit_next(rng),
                                              .offset = kit_next(rng)};
    if (kit_below(rng, 4) == 0)
        c->params.random.offset = 0 - (uint64_t)kit_below(rng, c->operand[0].count + 1);
}

/* The high half of a product of 64-bit numbers, and the low half. */
static uint64_t high_half(uint64_t a, uint64_t b, uint64_t *low)
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (middle & UINT32_MAX);
    *low = a * b;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

static uint64_t integer(uint64_t seed, uint64_t element, uint64_t span)
{
    uint64_t count = span + 1, low;
    for (uint32_t block = 0;; block++) {
        uint32_t x[4];
        kit_philox(seed, element, block, 1, x);
        for (int i = 0; i < 4; i += 2) {
            uint64_t bits = (uint64_t)x[i + 1] << 32 | x[i];
            if (count == 0)
                return bits;
            uint64_t made = high_half(bits, count, &low);
            if (low >= (UINT64_MAX - count + 1) % count)
                return made;
        }
    }
}

static void judge_integers(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *low = &c->operand[1], *span = &c->operand[2];
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        uint64_t first = ((const uint64_t *)(const void *)low->data)[low->ndim ? i : 0];
        uint64_t ideal = first + integer(c->params.random.seed, c->params.random.offset + (uint64_t)i,
                                         ((const uint64_t *)(const void *)span->data)[span->ndim ? i : 0]);
        kit_same(c, v, 0, i, &ideal, true);
    }
}

const kit_op kit_variate_ops[] = {
    {COLLET_OP_INTEGERS, plan_integers, generate_integers, judge_integers},
    {COLLET_OP_VARIATE, plan_variates, generate_variates, judge_variates},
    {0},
};
