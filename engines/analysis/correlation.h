/* SPDX-License-Identifier: Apache-2.0 */
/* Correlation functions of all frames, and of each block of frames. */
#pragma once

#include "analysis/power.h"

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
