/* SPDX-License-Identifier: Apache-2.0 */
/* recognise.h - floating-point weights that are already ternary: the numbers of each row are -s, 0 and
 * s, as converters of ternary models (BitNet, TriLM) write them. Their codes are the signs, and s is
 * the scale. */
#pragma once

#include "ternary/call.h"

#include <collet/ops/ternary.h>

/* Parameters of quantization that turn numbers into their signs. */
extern const collet_ternary_quantize_params ternary_signs;

/* The parameters for numbers, if none are given: a threshold of 0.3. */
extern const collet_ternary_quantize_params ternary_standard;

/* 1 if weights that are already ternary are kept exactly. With a threshold they are not, because the threshold
 * determines which weights become 0. `params`: NULL, or the caller's struct, which may be shorter than this
 * version's. */
int ternary_recognises(const collet_ternary_quantize_params *params);

/* Stores the s of `count` rows of `columns` numbers (F16, BF16, F32 or F64; adjacent, native byte
 * order) in `scale`, rounded to f32; 1 for a row of zeros. Returns 0 if a row is not ternary: the row has two
 * magnitudes besides 0, or a number that is not finite. */
int ternary_recognise_rows(collet_dtype dtype, const void *elements, int64_t count, int64_t columns,
                           float *scale);

/* Finds the s of each row of weights (..., K) on any device. Sets *scale to one number for each row, which the caller
 * frees; NULL if the weights are not ternary, or there are none. */
collet_status ternary_recognise_array(ternary_call *call, const char *what,
                                      const collet_array *weights, float **scale);

/* 1 if any scale is not 1. */
int ternary_scales_differ(const float *scale, int64_t count);
