/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_reduce.h - reductions of f32 and f64, and of integers.
 *
 * Results have 8 bytes: double, or int64_t or uint64_t in the same memory. Sums are compensated sums in f64. For any
 * number of terms the error is at most about two f64 ulp of the sum of the magnitudes. min and max follow
 * IEEE 754-2019: NaN propagates, -0 < +0. Steps are in bytes, of either sign.
 */
#pragma once

#include <collet/types.h>

/* The parameters of a reduction, in addition to the elements. */
typedef struct reduce_about {
    /* min of integers: an element is XORed with `bits`, then compared as a signed integer; so one
     * kernel computes minima and maxima of signed and unsigned integers. min and max of floats: NaN is ignored if
     * `bits` is not 0. count: counts the elements with (element & bits) != 0. */
    uint64_t bits;
    const double *center; /* deviations: one number for `run`, one per column for `columns` */
} reduce_about;

/* `result` is the result so far; `lost` is the accumulated rounding error of a sum, and unused by other
 * reductions. */
typedef struct reduction {
    /* Combines n elements with *result and *lost. */
    void (*run)(double *result, double *lost, const char *in, int64_t step, int64_t n,
                const reduce_about *about);
    /* Combines elements (i, j), i < rows, with result[j] and lost[j], j < columns. */
    void (*columns)(double *result, double *lost, const char *in, int64_t row_step,
                    int64_t column_step, int64_t rows, int64_t columns, const reduce_about *about);
} reduction;

/* The index of the first of n adjacent elements that equals the number (for integers: the word); n if no element
 * does. */
typedef int64_t place_first(const char *in, int64_t n, double number, int64_t word);

/* For n adjacent elements of a real type, at least a vector of them: sets *number to the least or greatest element,
 * NaN if there is one. Returns where a search for the first element that equals *number begins: if *number is not NaN,
 * this element is in the next eight vectors; for NaN returns 0. */
typedef int64_t place_begin(const char *in, int64_t n, double *number);

/* Stores in `out`, for each of the adjacent columns, the row of its least or greatest element, or of its first NaN.
 * bits: as in reduce_about, for integers. */
typedef void place_columns(char *out, int64_t out_step, const char *in, int64_t row_step,
                           int64_t rows, int64_t columns, int greatest, uint64_t bits);

/* First index of `begin`: 1 for the greatest element, 0 for the least. Second index of `begin`, and index of
 * first_real: 0 for f32, 1 for f64. Index of first_word: log2 of an element's size in bytes. Index of `columns`: a
 * dtype (NULL: none). */
typedef struct place_kernels {
    place_begin *begin[2][2];
    place_first *first_real[2], *first_word[4];
    place_columns *columns[COLLET_DTYPE_COUNT];
} place_kernels;

/* Indices: 0 is f32, 1 is f64. deviation: the sum of the squared distances from `center`. narrow: sums of f32
 * whose result is stored as f32 or narrower. Eight elements, or four squares, are first summed in f32, with
 * three roundings; these partial sums may leave the range of f32. */
typedef struct reduce_kernels {
    reduction narrow_sum, narrow_deviation, sum[2], deviation[2], product[2], min[2], max[2];
    place_kernels place;
} reduce_kernels;

/* Results are modulo 2^64. The index of `sum` is a dtype; the other indices are log2 of an element's size in
 * bytes. Elements of 16 bytes are pairs. */
typedef struct integer_kernels {
    reduction sum[COLLET_DTYPE_COUNT], product, min[4], count[5];
} integer_kernels;
