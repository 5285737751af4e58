/* SPDX-License-Identifier: Apache-2.0 */
/* Typed calls of the array family.
 * Tests: tests/core/test_call.c */
#include <collet/ops/array.h>

#include "call.h"
#include "context/context.h"

collet_status collet_op_fill(collet_context *cx, collet_array *out, const collet_scalar *value)
{
    if (!value)
        return context_fail(cx, COLLET_INVALID, "fill: the value is NULL");
    collet_fill_params params = {.struct_size = sizeof params, .value = *value};
    return collet_call(cx, COLLET_OP_FILL, &out, NULL, &params);
}

collet_status collet_op_axpy(collet_context *cx, collet_array *out, const collet_scalar *alpha,
                             const collet_array *x, const collet_array *y)
{
    if (!alpha)
        return context_fail(cx, COLLET_INVALID, "axpy: alpha is NULL");
    collet_axpy_params params = {.struct_size = sizeof params, .alpha = *alpha};
    return collet_call(cx, COLLET_OP_AXPY, &out, INS(x, y), &params);
}

collet_status collet_op_transpose(collet_context *cx, collet_array *out, const collet_array *a,
                                  const int32_t *perm)
{
    collet_transpose_params params = {.struct_size = sizeof params};
    params.ndim = a ? (uint32_t)collet_array_ndim(a) : 0;
    for (uint32_t i = 0; i < params.ndim; i++)
        params.perm[i] = perm ? perm[i] : (int32_t)(params.ndim - 1 - i);
    return collet_call(cx, COLLET_OP_TRANSPOSE, &out, &a, &params);
}

static collet_status reduce(collet_context *cx, uint32_t id, const char *name, collet_array *out,
                            const collet_array *a, const int32_t *axes, int32_t count,
                            int32_t keepdims)
{
    collet_reduce_params params = {.struct_size = sizeof params, .keepdims = keepdims != 0};
    collet_status status = call_axes(cx, name, a, axes, count, &params.axes);
    return status == COLLET_OK ? collet_call(cx, id, &out, &a, &params) : status;
}

static collet_status reduce_squares(collet_context *cx, uint32_t id, const char *name,
                                    collet_array *out, const collet_array *a, const int32_t *axes,
                                    int32_t count, int32_t keepdims, double correction)
{
    collet_variance_params params = {
        .struct_size = sizeof params, .keepdims = keepdims != 0, .correction = correction};
    collet_status status = call_axes(cx, name, a, axes, count, &params.axes);
    return status == COLLET_OK ? collet_call(cx, id, &out, &a, &params) : status;
}

#define REDUCTION(name, OP)                                                                        \
    collet_status collet_op_##name(collet_context *cx, collet_array *out, const collet_array *a,   \
                                   const int32_t *axes, int32_t count, int32_t keepdims)           \
    {                                                                                              \
        return reduce(cx, COLLET_OP_##OP, #name, out, a, axes, count, keepdims);                   \
    }

#define REDUCTION_OF_SQUARES(name, OP)                                                             \
    collet_status collet_op_##name(collet_context *cx, collet_array *out, const collet_array *a,   \
                                   const int32_t *axes, int32_t count, int32_t keepdims,           \
                                   double correction)                                              \
    {                                                                                              \
        return reduce_squares(cx, COLLET_OP_##OP, #name, out, a, axes, count, keepdims,            \
                              correction);                                                         \
    }

/* clang-format off */
REDUCTION(sum, SUM)
REDUCTION(mean, MEAN)
REDUCTION(min, MIN)
REDUCTION(max, MAX)
REDUCTION(argmax, ARGMAX)
REDUCTION(argmin, ARGMIN)
REDUCTION(prod, PROD)
REDUCTION(any, ANY)
REDUCTION(all, ALL)
REDUCTION(count_nonzero, COUNT_NONZERO)
REDUCTION_OF_SQUARES(var, VAR)
REDUCTION_OF_SQUARES(std, STD)
/* clang-format on */
