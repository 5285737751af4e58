/* SPDX-License-Identifier: Apache-2.0 */
/* Correlation functions of all frames and of blocks of them. */
#ifndef ENGINES_ANALYSIS_CORRELATION_H
#define ENGINES_ANALYSIS_CORRELATION_H

#include "analysis/power.h"

typedef struct analysis_correlation {
    analysis_power whole, parts;
} analysis_correlation;

/* Rows of `frames` frames, `rows` of them at a time at most. After an error nothing is to be
 * closed. */
collet_status analysis_correlation_open(analysis_correlation *c, collet_context *context,
                                        int64_t frames, int64_t blocks, int64_t rows,
                                        collet_error *err);
void analysis_correlation_close(analysis_correlation *c);

collet_status analysis_correlation_add(analysis_correlation *c, const double *rows, int64_t count,
                                       collet_error *err);

/* scale times the means over t of the sums over rows of x[t] x[t + k]. */
collet_status analysis_correlation_finish(analysis_correlation *c, double *whole, double *parts,
                                          double scale, collet_error *err);

#endif
