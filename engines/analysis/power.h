/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over pairs of frames a lag apart, of rows or of consecutive parts of them, by the op fft. */
#ifndef ENGINES_ANALYSIS_POWER_H
#define ENGINES_ANALYSIS_POWER_H

#include <collet/collet.h>

typedef struct analysis_power {
    collet_context *context;
    int64_t parts, length; /* parts of a row, and their length */
    int64_t points;        /* of a transform, at least twice the length */
    int64_t at_once;       /* rows of parts in `padded` */
    double *sums;          /* parts x (points / 2 + 1): power spectra, summed */
    double *padded;        /* at_once x points */
    double *spectra;       /* at_once x (points / 2 + 1) complex numbers */
} analysis_power;

/* Sums of rows in `parts` parts of `length` frames; with 0 parts or frames there is nothing to do.
 * `rows`: as many as come at a time at most. After an error nothing is to be closed. */
collet_status analysis_power_open(analysis_power *power, collet_context *context, int64_t parts,
                                  int64_t length, int64_t rows, collet_error *err);
void analysis_power_close(analysis_power *power);

/* Adds `count` rows, `stride` numbers apart. */
collet_status analysis_power_add(analysis_power *power, const double *rows, int64_t stride,
                                 int64_t count, collet_error *err);

/* pairs[p * length + k]: the sum over rows and t of x[t] x[t + k], of each part. */
collet_status analysis_power_pairs(analysis_power *power, double *pairs, collet_error *err);

#endif
