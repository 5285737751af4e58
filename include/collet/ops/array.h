/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/array.h - typed calls of the array family: elementwise functions, moves and reductions.
 *
 * Arrays are f32, f64, f16 and bf16 unless stated otherwise; f16 and bf16 are computed in f32 and
 * rounded once. Shapes broadcast as in NumPy.
 *
 * What all calls have in common: collet_call in collet.h. The definitions and the limits of errors:
 * docs/KERNELS.md. The calls without a declaration here are rows COLLET_CALL of
 * array.def, with their contracts.
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

/* Every element of `out` becomes *value, converted as by copy; a real value goes into a complex
 * array with imaginary part 0, a complex one into a real array is DTYPE. Any dtype. */
COLLET_API collet_status collet_op_fill(collet_context *context, collet_array *out,
                                        const collet_scalar *value);
/* out = alpha x + y, f32 and f64; *alpha of any real dtype, converted as by copy. `out` may be x or
 * y. */
COLLET_API collet_status collet_op_axpy(collet_context *context, collet_array *out,
                                        const collet_scalar *alpha, const collet_array *x,
                                        const collet_array *y);
/* out's axis i is a's axis perm[i]; perm NULL reverses. Any dtype. Moves elements; for a view see
 * collet_array_permute. */
COLLET_API collet_status collet_op_transpose(collet_context *context, collet_array *out,
                                             const collet_array *a, const int32_t *perm);
/*
 * Over `count` axes (negative ones count from the end; count 0 with axes NULL: all). With keepdims
 * the reduced axes stay with length 1. Sums are at least as good as in f64, also of f32, and may be
 * stored as f64.
 */
/* Of no elements: 0. Complex too. */
COLLET_API collet_status collet_op_sum(collet_context *context, collet_array *out,
                                       const collet_array *a, const int32_t *axes, int32_t count,
                                       int32_t keepdims);
/* The sum divided by the number of elements; of no elements: NaN. */
COLLET_API collet_status collet_op_mean(collet_context *context, collet_array *out,
                                        const collet_array *a, const int32_t *axes, int32_t count,
                                        int32_t keepdims);
/* minimum and maximum of IEEE 754-2019: NaN where there is one, -0 < +0. SHAPE where an element of
 * the output has no elements to choose from. */
COLLET_API collet_status collet_op_min(collet_context *context, collet_array *out,
                                       const collet_array *a, const int32_t *axes, int32_t count,
                                       int32_t keepdims);
COLLET_API collet_status collet_op_max(collet_context *context, collet_array *out,
                                       const collet_array *a, const int32_t *axes, int32_t count,
                                       int32_t keepdims);
/* i64: the index, in C order of the reduced axes, of the first maximum or of the first NaN. SHAPE
 * as max. */
COLLET_API collet_status collet_op_argmax(collet_context *context, collet_array *out,
                                          const collet_array *a, const int32_t *axes, int32_t count,
                                          int32_t keepdims);

#ifdef __cplusplus
}
#endif
#endif
