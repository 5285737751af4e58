/* SPDX-License-Identifier: Apache-2.0 */
/* result.h - checks the codes and scales that were computed from a matrix, and warns if they are suspicious. */
#pragma once

#include "ternary/call.h"

#include <collet/ops/ternary.h>

/* Adds `n` codes to the counts. */
void ternary_count_codes(const int8_t *codes, int64_t n, collet_ternary_counts *counts);

/* INVALID if a row's scale is infinite, or is 0 although the row has codes other than 0. In these cases the
 * magnitudes of the row's f64 numbers are outside the range of f32. The text of an error begins with `what`; `first`
 * is the number of the first row. */
collet_status ternary_check_scales(const char *what, const int8_t *codes, const float *scale,
                                   int64_t first, int64_t rows, int64_t columns, collet_error *err);

/* Warns the monitor if more than 90 % of the codes are 0, or if all codes are equal. `params`: how the codes were
 * computed; NULL: neither by a threshold nor by absmean. */
void ternary_warn_of_counts(const ternary_call *call, const char *what,
                            const collet_ternary_counts *counts,
                            const collet_ternary_quantize_params *params);
