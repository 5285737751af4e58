/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistical tests of the uniform and normal generators: moments, chi-square of single numbers and
 * of pairs, autocorrelation. Every statistic is converted to a p-value, which must be neither too
 * small nor too large: numbers that fit too well are not random either.
 *
 *   test_random_statistics [COUNT]     COUNT: numbers of each distribution and dtype (10^7 if not
 *                                      given), rounded to whole calls of 2^20 numbers
 *
 * Seeds are fixed, so the result is deterministic. 10^9 numbers take a minute or two.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collet/collet.h>
#include <collet/ops/array.h>
#include <collet/ops/random.h>

#define PIECE (1 << 20)  /* numbers per call */
#define P_LIMIT 1e-5     /* on each side; about 80 p-values are tested */
#define BINS 4096        /* bins for single numbers */
#define SIDE 64          /* bins for pairs: SIDE x SIDE */
#define NORMAL_RANGE 4.0 /* the outer bins begin at -4 and 4 */
#define LAGS 5

static const int lags[LAGS] = {1, 2, 3, 4, 64};

typedef struct tally {
    int normal;
    double count, power[4]; /* sums of (x - mean)^k, k = 1..4 */
    double lagged[LAGS], lagged_count[LAGS];
    uint64_t bin[BINS], pair[SIDE * SIDE];
} tally;

/* ---- Counting -------------------------------------------------------------------------------- */

/* The bin of x among `bins` bins. The bins of uniform numbers have equal widths over [0, 1). The
 * bins of normal numbers have equal widths between -4 and 4, except the first and the last bin,
 * which take the tails. */
static int bin_of(int normal, double x, int bins)
{
    double scaled = normal ? (x + NORMAL_RANGE) / (2 * NORMAL_RANGE) * (bins - 2) + 1 : x * bins;
    return scaled < 0 ? 0 : scaled >= bins ? bins - 1 : (int)scaled;
}

static double probability(int normal, int bin, int bins)
{
    if (!normal)
        return 1.0 / bins;
    double width = 2 * NORMAL_RANGE / (bins - 2), low = -NORMAL_RANGE + (bin - 1) * width;
    double below = bin == 0 ? 0 : 0.5 * erfc(-low / sqrt(2.0));
    double to = bin == bins - 1 ? 1 : 0.5 * erfc(-(low + width) / sqrt(2.0));
    return to - below;
}

static void count_piece(tally *t, const double *x)
{
    const int64_t n = PIECE;
    double mean = t->normal ? 0 : 0.5, power[4] = {0};
    for (int64_t i = 0; i < n; i++) {
        double d = x[i] - mean, square = d * d;
        power[0] += d;
        power[1] += square;
        power[2] += square * d;
        power[3] += square * square;
        t->bin[bin_of(t->normal, x[i], BINS)]++;
    }
    for (int64_t i = 0; i < n; i += 2)
        t->pair[bin_of(t->normal, x[i], SIDE) * SIDE + bin_of(t->normal, x[i + 1], SIDE)]++;
    for (int l = 0; l < LAGS; l++) {
        double sum = 0;
        for (int64_t i = lags[l]; i < n; i++)
            sum += (x[i] - mean) * (x[i - lags[l]] - mean);
        t->lagged[l] += sum;
        t->lagged_count[l] += (double)(n - lags[l]);
    }
    for (int k = 0; k < 4; k++)
        t->power[k] += power[k];
    t->count += (double)n;
}

/* ---- Judging --------------------------------------------------------------------------------- */

static int failures;

/* z is standard normal for a correct generator. */
static void judge(const char *of, const char *statistic, double value, double z)
{
    double p = 0.5 * erfc(z / sqrt(2.0));
    int ok = p > P_LIMIT && p < 1 - P_LIMIT;
    printf("%-12s %-16s %14.8g  z %7.3f  p %.6f%s\n", of, statistic, value, z, p,
           ok ? "" : "  FAILED");
    failures += !ok;
}

/* The moment about the true mean has expectation m[k] and variance (m[2k] - m[k]^2) / n. */
static void judge_moments(const tally *t, const char *of)
{
    static const char *const names[] = {"mean", "variance", "third moment", "fourth moment"};
    static const double uniform[9] = {1, 0, 1.0 / 12, 0, 1.0 / 80, 0, 1.0 / 448, 0, 1.0 / 2304};
    static const double normal[9] = {1, 0, 1, 0, 3, 0, 15, 0, 105};
    const double *m = t->normal ? normal : uniform;
    for (int k = 1; k <= 4; k++) {
        double value = t->power[k - 1] / t->count;
        judge(of, names[k - 1], value, (value - m[k]) / sqrt((m[2 * k] - m[k] * m[k]) / t->count));
    }
    for (int l = 0; l < LAGS; l++) {
        char name[32];
        double value = t->lagged[l] / t->lagged_count[l];
        snprintf(name, sizeof name, "lag %d", lags[l]);
        judge(of, name, value, value / (m[2] / sqrt(t->lagged_count[l])));
    }
}

/* Wilson-Hilferty: the cube root of chi-square over its degrees of freedom is nearly normal. */
static void judge_chi_square(const char *of, const char *statistic, double chi_square,
                             double freedom)
{
    double spread = 2.0 / (9.0 * freedom);
    judge(of, statistic, chi_square, (cbrt(chi_square / freedom) - 1 + spread) / sqrt(spread));
}

/* Cells with low expected counts are merged. */
static void judge_counts(const char *of, const char *statistic, const uint64_t *got,
                         const double *expected, int cells)
{
    double chi_square = 0, rare_got = 0, rare_expected = 0, freedom = -1;
    for (int i = 0; i < cells; i++) {
        double difference = (double)got[i] - expected[i];
        if (expected[i] < 25) {
            rare_got += (double)got[i];
            rare_expected += expected[i];
            continue;
        }
        chi_square += difference * difference / expected[i];
        freedom++;
    }
    if (rare_expected > 5) {
        chi_square += (rare_got - rare_expected) * (rare_got - rare_expected) / rare_expected;
        freedom++;
    }
    judge_chi_square(of, statistic, chi_square, freedom);
}

static void judge_distribution(const tally *t, const char *of)
{
    static double expected[BINS > SIDE * SIDE ? BINS : SIDE * SIDE];
    for (int i = 0; i < BINS; i++)
        expected[i] = t->count * probability(t->normal, i, BINS);
    judge_counts(of, "chi-square", t->bin, expected, BINS);
    for (int i = 0; i < SIDE * SIDE; i++) {
        expected[i] = t->count / 2 * probability(t->normal, i / SIDE, SIDE) *
                      probability(t->normal, i % SIDE, SIDE);
    }
    judge_counts(of, "pairs", t->pair, expected, SIDE * SIDE);
}

/* ---- Drawing --------------------------------------------------------------------------------- */

/* Stores numbers offset .. offset + PIECE - 1 of the sequence in x as f64, via `drawn`, `wide`. */
static collet_status draw(collet_context *cx, int normal, collet_array *drawn, collet_array *wide,
                          uint64_t seed, uint64_t offset, double *x)
{
    collet_status status = normal ? collet_op_normal(cx, drawn, seed, offset)
                                  : collet_op_uniform(cx, drawn, seed, offset);
    if (status == COLLET_OK)
        status = collet_op_copy(cx, wide, drawn);
    return status == COLLET_OK ? collet_array_read(cx, wide, x, PIECE * sizeof *x) : status;
}

static collet_status draw_and_count(collet_context *cx, int normal, collet_dtype dtype,
                                    int64_t pieces, tally *t)
{
    static double x[PIECE];
    const int64_t shape[] = {PIECE};
    const uint64_t seed = 20261121u + (uint64_t)dtype;
    collet_array *drawn = NULL, *wide = NULL;
    *t = (tally){.normal = normal};
    collet_status status = collet_array_create(cx, &drawn, dtype, 1, shape);
    if (status == COLLET_OK)
        status = collet_array_create(cx, &wide, COLLET_F64, 1, shape);
    for (int64_t i = 0; status == COLLET_OK && i < pieces; i++) {
        status = draw(cx, normal, drawn, wide, seed, (uint64_t)(i * PIECE), x);
        if (status == COLLET_OK)
            count_piece(t, x);
    }
    collet_array_destroy(drawn);
    collet_array_destroy(wide);
    return status;
}

static int run(collet_context *cx, int normal, collet_dtype dtype, int64_t pieces)
{
    static tally t;
    char of[32];
    if (draw_and_count(cx, normal, dtype, pieces, &t) != COLLET_OK) {
        fprintf(stderr, "%s\n", collet_last_error(cx));
        return 0;
    }
    snprintf(of, sizeof of, "%s %s", normal ? "normal" : "uniform", collet_dtype_name(dtype));
    judge_moments(&t, of);
    judge_distribution(&t, of);
    return 1;
}

int main(int argc, char **argv)
{
    double count = argc > 1 ? strtod(argv[1], NULL) : 1e7;
    collet_error err;
    collet_runtime *rt = NULL;
    collet_context *cx = NULL;
    if (!(count >= 1e5 && count <= 1e12)) {
        fprintf(stderr, "usage: %s [COUNT]     (1e5 to 1e12)\n", argv[0]);
        return 2;
    }
    int ok = collet_runtime_create(&rt, NULL, &err) == COLLET_OK &&
             collet_context_create(rt, &cx, &err) == COLLET_OK;
    if (!ok)
        fprintf(stderr, "%s\n", err.text);
    for (int kind = 0; ok && kind < 4; kind++)
        ok = run(cx, kind & 1, kind & 2 ? COLLET_F64 : COLLET_F32, (int64_t)ceil(count / PIECE));
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
    printf("%d of the statistics failed\n", failures);
    return ok && !failures ? 0 : 1;
}
