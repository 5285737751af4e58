/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - checks the codes and scales that were made of a matrix, and warns if they are suspicious. */
#ifndef ENGINES_TERNARY_RESULT_H
#define ENGINES_TERNARY_RESULT_H

#include "ternary/call.h"

#include <collet/ops/ternary.h>

/* Adds `n` codes to the counts. */
void ternary_count_codes(const int8_t *codes, int64_t n, collet_ternary_counts *counts);

/* INVALID if a row's scale is infinite, or 0 though the row has other codes than 0: the magnitudes
 * of its f64 numbers are beyond f32. `what` begins the text, `first` is the first row's number. */
collet_status ternary_check_scales(const char *what, const int8_t *codes, const float *scale,
                                   int64_t first, int64_t rows, int64_t columns, collet_error *err);

/* Tells the monitor if more than 90 % of the codes are 0, or all are equal. `params`: what made the
 * codes; NULL: neither threshold nor absmean. */
void ternary_warn_of_counts(const ternary_call *call, const char *what,
                            const collet_ternary_counts *counts,
                            const collet_ternary_quantize_params *params);

#endif
