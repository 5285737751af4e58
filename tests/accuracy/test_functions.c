/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_functions [LEVEL [COUNT | all [NAME]]] - measures the errors of the functions of
 * plugins/shared/formula in ulp, against the C library in the next wider type, and checks their
 * results for special values (infinities, NaN, zeros).
 *
 * LEVEL: v2, v3, v4 or baseline; default: each level that this processor has. COUNT: this many
 * numbers of each type. all: every f32 number (only functions of one argument).
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"

#define BLOCK 4096

/* ---- References ---------------------------------------------------------------------------- */

typedef struct reference {
    const char *name;
    double (*wide)(double);
    long double (*wider)(long double);
    double (*wide2)(double, double);
    long double (*wider2)(long double, long double);
    double limit_f32, limit_f64; /* in ulp */
    double most_f32, most_f64;   /* the largest supported argument, 0: no limit */
    double least, span;          /* half of the arguments are in least .. least + span */
} reference;

static double expit(double x)
{
    return x < -30 ? exp(x) : 1 / (1 + exp(-x));
}

static long double expit_long(long double x)
{
    return x < -50 ? expl(x) : 1 / (1 + expl(-x));
}

static double logaddexp(double x, double y)
{
    return x == y ? x + M_LN2 : fmax(x, y) + (x - y != 0 ? log1p(exp(-fabs(x - y))) : NAN);
}

static long double logaddexp_long(long double x, long double y)
{
    return x == y ? x + 0.693147180559945309417L : fmaxl(x, y) + log1pl(expl(-fabsl(x - y)));
}

#define ONE(name, ...)                                                                             \
    {                                                                                              \
#name, name, name##l, NULL, NULL, __VA_ARGS__                                              \
    }
#define TWO(name, ...)                                                                             \
    {                                                                                              \
#name, NULL, NULL, name, name##l, __VA_ARGS__                                              \
    }

static const reference references[FUNCTION_COUNT] = {
    ONE(sqrt, 0.5, 0.5, 0, 0, 0, 4),
    ONE(exp, 1, 1, 0, 0, -104, 193),
    ONE(exp2, 2, 2, 0, 0, -150, 280),
    ONE(expm1, 2, 2, 0, 0, -2, 4),
    ONE(log, 1, 1, 0, 0, 0, 2),
    ONE(log1p, 2, 2, 0, 0, -1, 3),
    ONE(log2, 2, 2, 0, 0, 0, 2),
    ONE(log10, 2, 2, 0, 0, 0, 2),
    ONE(sin, 2, 2, 1e5, 1e6, -10, 20),
    ONE(cos, 2, 2, 1e5, 1e6, -10, 20),
    ONE(tan, 4, 4, 1e5, 1e6, -10, 20),
    ONE(asin, 2, 2, 0, 0, -1, 2),
    ONE(acos, 2, 2, 0, 0, -1, 2),
    ONE(atan, 2, 2, 0, 0, -4, 8),
    ONE(sinh, 4, 4, 0, 0, -10, 20),
    ONE(cosh, 4, 4, 0, 0, -10, 20),
    ONE(tanh, 3, 3, 0, 0, -4, 8),
    ONE(asinh, 4, 4, 0, 0, -10, 20),
    ONE(acosh, 4, 4, 0, 0, 1, 10),
    ONE(atanh, 4, 4, 0, 0, -1, 2),
    ONE(cbrt, 2, 2, 0, 0, -10, 20),
    {"expit", expit, expit_long, NULL, NULL, 4, 4, 0, 0, -20, 40},
    ONE(erf, 4, 4, 0, 0, -4, 8),
    ONE(erfc, 4, 4, 0, 0, -1, 28),
    ONE(lgamma, 4, 4, 0, 0, -5, 20),
    TWO(atan2, 4, 4, 0, 0, -4, 8),
    TWO(hypot, 2, 2, 0, 0, -4, 8),
    TWO(pow, 4, 4, 0, 0, -20, 40),
    {"logaddexp", NULL, NULL, logaddexp, logaddexp_long, 4, 4, 0, 0, -20, 40},
};

/* ---- Numbers ------------------------------------------------------------------------------- */

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static const double special[] = {0.0,
                                 1.0,
                                 2.0,
                                 3.0,
                                 0.5,
                                 1.5,
                                 0x1.fffffep-1,
                                 0x1.000002p+0,
                                 0x1.fffffffffffffp-1,
                                 0x1.0000000000001p+0,
                                 0x1p-30,
                                 0x1p-70,
                                 0x1p30,
                                 0x1p23,
                                 0x1.000002p23,
                                 0x1.000002p24,
                                 0x1p52,
                                 0x1.0000000000001p52,
                                 0x1.0000000000001p53,
                                 0x1p126,
                                 0x1p-126,
                                 0x1p-149,
                                 0x1.8p-148,
                                 0x1.fffffep127,
                                 0x1p-1022,
                                 0x1p-1074,
                                 0x1.fffffffffffffp1023,
                                 (double)INFINITY,
                                 (double)NAN};
#define SPECIALS (2 * (int)(sizeof special / sizeof *special))

static double special_value(int i)
{
    return i % 2 ? -special[i / 2] : special[i / 2];
}

/* Argument i: first all pairs of special values, then random bit patterns and numbers from the range. */
static double number(const reference *r, int wide, int second, uint64_t i, uint64_t *state)
{
    uint64_t bits = next(state);
    double x;
    float narrow;
    if (i < (uint64_t)(SPECIALS * SPECIALS))
        return special_value((int)(second ? i / SPECIALS : i % SPECIALS));
    if (i % 2) {
        x = r->least + r->span * (double)(bits >> 11) * 0x1p-53;
        return wide ? x : (double)(float)x;
    }
    if (wide) {
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    uint32_t low = (uint32_t)bits;
    memcpy(&narrow, &low, sizeof narrow);
    return (double)narrow;
}

/* ---- Errors -------------------------------------------------------------------------------- */

typedef struct type {
    int digits, least; /* bits of the fraction; exponent of the least normal number */
    long double top;   /* the number after the largest */
} type;

static const type types[2] = {{23, -126, 0x1p128L}, {52, -1022, 0x1p1024L}};

static long double unit(const type *t, long double x)
{
    int exponent = x == 0 ? t->least : ilogbl(x);
    return ldexpl(1, (exponent < t->least ? t->least : exponent) - t->digits);
}

/* The error is relative to the result, unless the function's comment says otherwise. */
static long double scale_of(const char *name, long double x, long double y, long double exact)
{
    if (!strcmp(name, "logaddexp"))
        return fmaxl(fmaxl(fabsl(x), fabsl(y)), fabsl(exact));
    if (!strcmp(name, "lgamma") && x < 0)
        return fmaxl(1, fmaxl(fabsl(lgammal(-x)), fabsl(exact)));
    return fabsl(exact);
}

static double error_of(const reference *r, const type *t, double x, double y, long double exact,
                       double got)
{
    if (isnan(exact) || isnan(got))
        return isnan(exact) && isnan(got) ? 0 : (double)INFINITY;
    if (isinf(exact) || exact == 0)
        return (long double)got == exact && !signbit(got) == !signbit(exact) ? 0 : (double)INFINITY;
    long double size = scale_of(r->name, (long double)x, (long double)y, exact);
    long double given = isinf(got) ? copysignl(t->top, (long double)got) : (long double)got;
    if (fabsl(exact) >= t->top)
        return isinf(got) && !signbit(got) == !signbit(exact) ? 0 : (double)INFINITY;
    return (double)(fabsl(given - exact) / unit(t, size));
}

typedef struct worst {
    double error, x, y;
} worst;

static void note(worst *w, double error, double x, double y)
{
    if (error > w->error)
        *w = (worst){error, x, y};
}

/* Whether the error of an f32 result may exceed `least` ulp of the result. A quick estimate. */
static int suspect(double exact, double got, double least)
{
    uint64_t bits, scale;
    double per_unit, size = fabs(exact);
    memcpy(&bits, &size, sizeof bits);
    if (!(size >= 0x1p-126 && size < 0x1p127))
        return !(got == exact && (got != 0 || !signbit(got) == !signbit(exact)));
    scale = ((uint64_t)(2046 + 23) - (bits >> 52)) << 52;
    memcpy(&per_unit, &scale, sizeof per_unit);
    return !(fabs(got - exact) * per_unit <= least);
}

static void block_f32(const reference *r, const level_function *f, const float *a, const float *b,
                      int64_t n, worst *w)
{
    float out[BLOCK];
    f->f32(out, a, b, n);
    for (int64_t i = 0; i < n; i++) {
        double x = (double)a[i], y = (double)b[i], got = (double)out[i];
        if (r->most_f32 != 0 && !(fabs(x) <= r->most_f32))
            continue;
        double exact = r->wide ? r->wide(x) : r->wide2(x, y);
        if (suspect(exact, got, w->error))
            note(w, error_of(r, &types[0], x, y, (long double)exact, got), x, y);
    }
}

static void block_f64(const reference *r, const level_function *f, const double *a, const double *b,
                      int64_t n, worst *w)
{
    double out[BLOCK];
    f->f64(out, a, b, n);
    for (int64_t i = 0; i < n; i++) {
        if (r->most_f64 != 0 && !(fabs(a[i]) <= r->most_f64))
            continue;
        long double x = (long double)a[i], y = (long double)b[i];
        long double exact = r->wider ? r->wider(x) : r->wider2(x, y);
        note(w, error_of(r, &types[1], a[i], b[i], exact, out[i]), a[i], b[i]);
    }
}

static worst measure(const reference *r, const level_function *f, int wide, uint64_t count, int all)
{
    static float a[BLOCK], b[BLOCK];
    static double wide_a[BLOCK], wide_b[BLOCK];
    worst w = {0};
    uint64_t state = 1;
    all = all && !wide && r->wide;
    for (uint64_t first = 0; first < (all ? (uint64_t)1 << 32 : count); first += BLOCK) {
        for (uint64_t i = 0; i < BLOCK; i++) {
            uint32_t bits = (uint32_t)(first + i);
            wide_a[i] = number(r, wide, 0, first + i, &state);
            wide_b[i] = number(r, wide, 1, first + i, &state);
            a[i] = (float)wide_a[i];
            b[i] = (float)wide_b[i];
            if (all)
                memcpy(&a[i], &bits, sizeof bits);
        }
        if (wide)
            block_f64(r, f, wide_a, wide_b, BLOCK, &w);
        else
            block_f32(r, f, a, b, BLOCK, &w);
    }
    return w;
}

/* ---- Levels -------------------------------------------------------------------------------- */

static int test_level(const char *level, const level_function *functions, uint64_t count, int all,
                      const char *name)
{
    int failed = 0;
    for (int k = 0; k < FUNCTION_COUNT; k++) {
        const reference *r = &references[k];
        if (name && strcmp(name, r->name) != 0)
            continue;
        for (int wide = 0; wide < (all ? 1 : 2); wide++) {
            double limit = wide ? r->limit_f64 : r->limit_f32;
            worst w = measure(r, &functions[k], wide, count, all);
            int bad = !(w.error <= limit) || strcmp(functions[k].name, r->name) != 0;
            printf("%-9s %-9s %s %6.3f of %g at %a, %a%s\n", level, r->name, wide ? "f64" : "f32",
                   w.error, limit, w.x, w.y, bad ? " TOO LARGE" : "");
            fflush(stdout);
            failed |= bad;
        }
    }
    return failed;
}

int main(int argc, char **argv)
{
    const char *level = argc > 1 ? argv[1] : NULL;
    int all = argc > 2 && !strcmp(argv[2], "all"), failed = 0, known = 0;
    uint64_t count = argc > 2 && !all ? strtoull(argv[2], NULL, 10) : 12288;
    const char *name = argc > 3 ? argv[3] : NULL;
#define TEST(LEVEL, runs)                                                                          \
    if ((!level || !strcmp(level, #LEVEL)) && (runs)) {                                            \
        failed |= test_level(#LEVEL, functions_##LEVEL, count, all, name);                         \
        known = 1;                                                                                 \
    }
#if defined(__x86_64__)
    TEST(v2, 1)
    TEST(v3, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    TEST(v4, __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
#else
    TEST(baseline, 1)
#endif
    if (!known)
        printf("this processor does not have the level %s\n", level ? level : "");
    return known ? failed : 77;
}
