/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_analysis.c */
#include <collet/analysis.h>
#include <math.h>

/* Returns the mean over all blocks but block b, at lag k; `sum` is the sum over all blocks. */
static double without(const double *parts, double sum, int64_t blocks, int64_t lags, int64_t b,
                      int64_t k)
{
    return (sum - parts[b * lags + k]) / (double)(blocks - 1);
}

static double sum_of(const double *parts, int64_t blocks, int64_t lags, int64_t k)
{
    double sum = 0;

    for (int64_t b = 0; b < blocks; b++)
        sum += parts[b * lags + k];
    return sum;
}

/* Student's factor: the mean of normally distributed blocks differs from the true mean by less than its standard
 * error times this factor, with the probability of one standard deviation, 0.6827. From three blocks on the factor is
 * the expansion of Student's quantile (Abramowitz and Stegun 26.7.5) at 1. Two blocks have Cauchy's distribution. */
static double student(int64_t blocks)
{
    const double n = (double)(blocks - 1);

    if (blocks == 2)
        return 1.8373;
    return 1 + 1 / (2 * n) + 1 / (4 * n * n) + 1 / (16 * n * n * n);
}

collet_status collet_analysis_errors(double *errors, const double *parts, int64_t blocks,
                                     int64_t lags, int32_t normalise, collet_error *err)
{
    if (blocks < 2 || lags < 0)
        return collet_fail(err, COLLET_INVALID,
                           "%lld blocks of %lld lags have no error: there must be two blocks or "
                           "more",
                           (long long)blocks, (long long)lags);
    for (int64_t k = lags - 1; k >= 0; k--) {
        double sum = sum_of(parts, blocks, lags, k), start = sum_of(parts, blocks, lags, 0);
        double mean = 0, spread = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int64_t b = 0; b < blocks; b++) {
                double x = without(parts, sum, blocks, lags, b, k);
                if (normalise)
                    x /= without(parts, start, blocks, lags, b, 0);
                if (pass == 0)
                    mean += x / (double)blocks;
                else
                    spread += (x - mean) * (x - mean);
            }
        errors[k] = student(blocks) * sqrt(spread * (double)(blocks - 1) / (double)blocks);
    }
    return COLLET_OK;
}
