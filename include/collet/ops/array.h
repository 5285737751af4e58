/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/array.h - typed calls of the array family: elementwise functions, moves and reductions.
 *
 * Arrays are f32, f64, f16 and bf16 unless stated otherwise; f16 and bf16 are computed in f32 and
 * rounded once. Shapes broadcast as in NumPy.
 *
 * collet.h states the rules that hold for every call (collet_call); docs/KERNELS.md has the
 * definitions and the limits of errors. A call without a declaration here is a row COLLET_CALL of
 * array.def, with its contract.
 */
#ifndef COLLET_OPS_ARRAY_H
#define COLLET_OPS_ARRAY_H

#include <collet/collet.h>
#include <collet/ops/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLET_CALL COLLET_TYPED_DECLARE
#define COLLET_CALL_PARAMS COLLET_TYPED_DECLARE_PARAMS
#include <collet/ops/begin.def>
#include <collet/ops/array.def>
#include <collet/ops/end.def>

/* Every element of `out` becomes *value, converted in the same way as `copy` does; a real value in
 * a complex array gets the imaginary part 0; a complex value for a real array is DTYPE. Any
 * dtype. */
COLLET_API collet_status collet_op_fill(collet_context *context, collet_array *out,
                                        const collet_scalar *value);
/* out = alpha x + y, f32 and f64; *alpha has any real dtype and is converted in the same way as
 * `copy` does. `out` may be x or y. */
COLLET_API collet_status collet_op_axpy(collet_context *context, collet_array *out,
                                        const collet_scalar *alpha, const collet_array *x,
                                        const collet_array *y);
/* out's axis i is a's axis perm[i]; perm NULL reverses the axes. Any dtype. Copies the elements;
 * collet_array_permute makes a view. */
COLLET_API collet_status collet_op_transpose(collet_context *context, collet_array *out,
                                             const collet_array *a, const int32_t *perm);
/*
 * Reductions over `count` axes (a negative axis counts from the last one; count 0 with axes NULL:
 * all axes). With keepdims the reduced axes stay, with length 1. Sums are at least as accurate as
 * in f64, also for narrower elements; f32 elements may give f64.
 */
/* The sum; 0 if there are no elements. Also complex; signed integers and bool to i64, unsigned
 * ones to u64, modulo 2^64. */
COLLET_API collet_status collet_op_sum(collet_context *context, collet_array *out,
                                       const collet_array *a, const int32_t *axes, int32_t count,
                                       int32_t keepdims);
/* The sum divided by the number of elements; NaN if there are none. */
COLLET_API collet_status collet_op_mean(collet_context *context, collet_array *out,
                                        const collet_array *a, const int32_t *axes, int32_t count,
                                        int32_t keepdims);
/* minimum and maximum of IEEE 754-2019: NaN if one of the elements is NaN, -0 < +0. Also integers.
 * SHAPE where an element of the output has no elements to choose from. */
COLLET_API collet_status collet_op_min(collet_context *context, collet_array *out,
                                       const collet_array *a, const int32_t *axes, int32_t count,
                                       int32_t keepdims);
COLLET_API collet_status collet_op_max(collet_context *context, collet_array *out,
                                       const collet_array *a, const int32_t *axes, int32_t count,
                                       int32_t keepdims);
/* i64: the index, in C order of the reduced axes, of the first maximum, or minimum, or of the first
 * NaN. Also integers. SHAPE as max. */
COLLET_API collet_status collet_op_argmax(collet_context *context, collet_array *out,
                                          const collet_array *a, const int32_t *axes, int32_t count,
                                          int32_t keepdims);
COLLET_API collet_status collet_op_argmin(collet_context *context, collet_array *out,
                                          const collet_array *a, const int32_t *axes, int32_t count,
                                          int32_t keepdims);
/* The product; 1 if there are no elements. Integers and bool as sum. */
COLLET_API collet_status collet_op_prod(collet_context *context, collet_array *out,
                                        const collet_array *a, const int32_t *axes, int32_t count,
                                        int32_t keepdims);
/* The mean square of the distances from the mean, divided by the number of elements minus
 * `correction` (by 0 where that is negative), and its square root; NaN if there are no elements. */
COLLET_API collet_status collet_op_var(collet_context *context, collet_array *out,
                                       const collet_array *a, const int32_t *axes, int32_t count,
                                       int32_t keepdims, double correction);
COLLET_API collet_status collet_op_std(collet_context *context, collet_array *out,
                                       const collet_array *a, const int32_t *axes, int32_t count,
                                       int32_t keepdims, double correction);
/* bool: whether one element, or every element, is not 0 (a NaN is not); false and true if there are
 * none. Any dtype. */
COLLET_API collet_status collet_op_any(collet_context *context, collet_array *out,
                                       const collet_array *a, const int32_t *axes, int32_t count,
                                       int32_t keepdims);
COLLET_API collet_status collet_op_all(collet_context *context, collet_array *out,
                                       const collet_array *a, const int32_t *axes, int32_t count,
                                       int32_t keepdims);
/* i64: how many elements are not 0. Any dtype. */
COLLET_API collet_status collet_op_count_nonzero(collet_context *context, collet_array *out,
                                                 const collet_array *a, const int32_t *axes, int32_t count,
                                                 int32_t keepdims);

#ifdef __cplusplus
}
#endif
#endif
