/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/array.h - typed calls, inline, of the array family: elementwise functions, moves and reductions.
 *
 * Arrays are f32, f64, f16 and bf16 unless stated otherwise; f16 and bf16 are computed in f32 and
 * rounded once. Shapes broadcast as in NumPy.
 *
 * collet/call.h states the rules that hold for every call; docs/KERNELS.md has the
 * definitions and the limits of errors. Each row COLLET_CALL of array.def becomes a call, too (typed.h);
 * the comments there describe these calls.
 */
#ifndef COLLET_OPS_ARRAY_H
#define COLLET_OPS_ARRAY_H

#include <collet/collet.h>
#include <collet/ops/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLET_CALL COLLET_TYPED_CALL
#define COLLET_CALL_PARAMS COLLET_TYPED_CALL_PARAMS
#include <collet/ops/begin.def>
#include <collet/ops/array.def>
#include <collet/ops/end.def>

/* Every element of `out` becomes *value, converted in the same way as `copy` does; a real value in
 * a complex array gets the imaginary part 0; a complex value for a real array is DTYPE. Any
 * dtype. */
static inline collet_status collet_op_fill(collet_context *context, collet_array *out,
                                           const collet_scalar *value)
{
    if (!value)
        return collet_call(context, COLLET_OP_FILL, &out, NULL, NULL); /* INVALID */
    collet_fill_params params = {sizeof params, 0, *value};
    return collet_call(context, COLLET_OP_FILL, &out, NULL, &params);
}

/* out = alpha x + y, f32 and f64; *alpha has any real dtype and is converted in the same way as
 * `copy` does. `out` may be x or y. */
static inline collet_status collet_op_axpy(collet_context *context, collet_array *out,
                                           const collet_scalar *alpha, const collet_array *x,
                                           const collet_array *y)
{
    const collet_array *const from[] = {x, y};
    if (!alpha)
        return collet_call(context, COLLET_OP_AXPY, &out, from, NULL); /* INVALID */
    collet_axpy_params params = {sizeof params, 0, *alpha};
    return collet_call(context, COLLET_OP_AXPY, &out, from, &params);
}

/* out's axis i is a's axis perm[i]; perm NULL reverses the axes. Any dtype. Copies the elements;
 * collet_array_permute makes a view. */
static inline collet_status collet_op_transpose(collet_context *context, collet_array *out,
                                                const collet_array *a, const int32_t *perm)
{
    collet_transpose_params params = {sizeof params, 0, {0}};
    int32_t ndim = a ? collet_array_ndim(a) : 0;
    for (int32_t i = 0; i < ndim; i++, params.ndim++)
        params.perm[i] = perm ? perm[i] : ndim - 1 - i;
    return collet_call(context, COLLET_OP_TRANSPOSE, &out, &a, &params);
}

/*
 * Reductions over `count` axes (a negative axis counts from the last axis; count 0 with axes NULL:
 * all axes). With keepdims the reduced axes stay, with length 1. A sum of f32 can be stored as f64.
 */
#define COLLET_REDUCTION(NAME, name)                                                               \
    static inline collet_status collet_op_##name(collet_context *context, collet_array *out,       \
                                                 const collet_array *a, const int32_t *axes,       \
                                                 int32_t count, int32_t keepdims)                  \
    {                                                                                              \
        collet_reduce_params params = {sizeof params, 0, keepdims != 0, 0};                        \
        collet_status status =                                                                     \
            collet_ops_axes(context, COLLET_OP_##NAME, &params.axes, a, axes, count);              \
        return status ? status : collet_call(context, COLLET_OP_##NAME, &out, &a, &params);        \
    }
#define COLLET_REDUCTION_OF_SQUARES(NAME, name)                                                    \
    static inline collet_status collet_op_##name(                                                  \
        collet_context *context, collet_array *out, const collet_array *a, const int32_t *axes,    \
        int32_t count, int32_t keepdims, double correction)                                        \
    {                                                                                              \
        collet_variance_params params = {sizeof params, 0, keepdims != 0, 0, correction};          \
        collet_status status =                                                                     \
            collet_ops_axes(context, COLLET_OP_##NAME, &params.axes, a, axes, count);              \
        return status ? status : collet_call(context, COLLET_OP_##NAME, &out, &a, &params);        \
    }

/* The sum; 0 if there are no elements. Also complex; signed integers and bool give i64, unsigned integers u64, modulo
 * 2^64. */
COLLET_REDUCTION(SUM, sum)
/* The sum divided by the number of elements; NaN if there are none. */
COLLET_REDUCTION(MEAN, mean)
/* minimum and maximum of IEEE 754-2019: NaN if one of the elements is NaN, -0 < +0. Also integers.
 * SHAPE if the output has elements, but there are no elements to reduce. */
COLLET_REDUCTION(MIN, min)
COLLET_REDUCTION(MAX, max)
/* i64: the index, in C order of the reduced axes, of the first NaN; if there is no NaN, of the first maximum or
 * minimum. Also integers. SHAPE as for max. */
COLLET_REDUCTION(ARGMAX, argmax)
COLLET_REDUCTION(ARGMIN, argmin)
/* The product; 1 if there are no elements. Integers and bool as for sum. */
COLLET_REDUCTION(PROD, prod)
/* var: the sum of the squared distances from the mean, divided by the number of elements minus
 * `correction` (by 0 if that is negative); std: its square root. NaN if there are no elements. */
COLLET_REDUCTION_OF_SQUARES(VAR, var)
COLLET_REDUCTION_OF_SQUARES(STD, std)
/* bool: whether any element, or every element, differs from 0 (NaN does). Without elements any is false and
 * all is true. Any dtype. */
COLLET_REDUCTION(ANY, any)
COLLET_REDUCTION(ALL, all)
/* i64: how many elements are not 0. Any dtype. */
COLLET_REDUCTION(COUNT_NONZERO, count_nonzero)

#undef COLLET_REDUCTION
#undef COLLET_REDUCTION_OF_SQUARES

#ifdef __cplusplus
}
#endif
#endif
