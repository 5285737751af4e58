/* SPDX-License-Identifier: Apache-2.0 */
/* Correlation functions of all frames, and of each block of frames. */
#pragma once

#include <collet/collet.h>

/* Sums of x[t] x[t + k] over the pairs of frames that are k frames apart, by the op fft, for whole rows or for
 * consecutive parts of rows. */

typedef struct analysis_power {
    collet_context *context;
    int64_t parts, length; /* number of parts of a row, and frames of a part */
    int64_t points;        /* points of a transform, at least 2 length - 1 */
    int64_t at_once;       /* number of parts that `padded` holds */
    double *sums;          /* parts x (points / 2 + 1): power spectra, summed over rows */
    double *padded;        /* at_once x points */
    double *spectra;       /* at_once x (points / 2 + 1) complex numbers */
} analysis_power;

/* For rows that are divided into `parts` parts of `length` frames; if either is 0, all functions do
 * nothing. `rows`: the maximum number of rows of one call of analysis_power_add. After an error do not call
 * analysis_power_close. */
collet_status analysis_power_open(analysis_power *power, collet_context *context, int64_t parts,
                                  int64_t length, int64_t rows, collet_error *err);
void analysis_power_close(analysis_power *power);

/* Adds `count` rows, `stride` numbers apart. */
collet_status analysis_power_add(analysis_power *power, const double *rows, int64_t stride,
                                 int64_t count, collet_error *err);

/* Sets pairs[p * length + k] to the sum over rows and t of x[t] x[t + k] of part p. */
collet_status analysis_power_pairs(analysis_power *power, double *pairs, collet_error *err);

typedef struct analysis_correlation {
    analysis_power whole, parts;
} analysis_correlation;

/* For rows of `frames` numbers; one call of analysis_correlation_add may add up to `rows` rows. After
 * an error do not call analysis_correlation_close. */
collet_status analysis_correlation_open(analysis_correlation *c, collet_context *context,
                                        int64_t frames, int64_t blocks, int64_t rows,
                                        collet_error *err);
void analysis_correlation_close(analysis_correlation *c);

collet_status analysis_correlation_add(analysis_correlation *c, const double *rows, int64_t count,
                                       collet_error *err);

/* Sets element k of each curve to scale * (mean over t of (sum over rows of x[t] x[t + k])). */
collet_status analysis_correlation_finish(analysis_correlation *c, double *whole, double *parts,
                                          double scale, collet_error *err);
