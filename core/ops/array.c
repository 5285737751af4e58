/* SPDX-License-Identifier: Apache-2.0 */
/* The array family: shape rules that patterns cannot express, and the typed calls. */
#include <inttypes.h>

#include "op/op.h"
#include "dispatch/call.h"
#include "context/context.h"

collet_status op_rule_transpose(const op *o, op_shapes *views, const void *params,
                                collet_error *err)
{
    const collet_transpose_params *p = params;
    const struct op_view *in = &views->operand[1];
    int64_t shape[COLLET_MAX_DIMS];
    uint32_t seen = 0;
    if (p->ndim != (uint32_t)in->ndim)
        return op_shape_error(o, views, "the permutation has not as many axes as the input", err);
    for (int32_t i = 0; i < in->ndim; i++) {
        int32_t axis = p->perm[i];
        if (axis < 0 || axis >= in->ndim || seen >> axis & 1)
            return collet_fail(err, COLLET_INVALID,
                               "transpose: perm[%d] = %d makes no permutation of %d axes", i, axis,
                               in->ndim);
        seen |= 1u << axis;
        shape[i] = in->shape[axis];
    }
    return op_expect(o, views, 0, in->ndim, shape,
                     "output axis i must have the extent of input axis perm[i]", err);
}

collet_status op_rule_reduce(const op *o, op_shapes *views, const void *params, collet_error *err)
{
    const collet_reduce_params *p = params;
    const struct op_view *in = &views->operand[1];
    char name[OP_OPERAND_TEXT];
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = 0;
    if (p->axes >> in->ndim)
        return collet_fail(err, COLLET_INVALID, "%s: axes 0x%x name more than the %d axes of %s",
                           o->name, p->axes, in->ndim, op_operand_name(o, 1, name));
    for (int32_t i = 0; i < in->ndim; i++) {
        int reduced = (int)(p->axes >> i & 1);
        if (!reduced || p->keepdims)
            shape[ndim++] = reduced ? 1 : in->shape[i];
    }
    return op_expect(o, views, 0, ndim, shape,
                     "the output has the input's axes without the reduced ones (with keepdims: of "
                     "length 1)",
                     err);
}

/* A minimum or maximum needs an element to choose. */
collet_status op_rule_reduce_some(const op *o, op_shapes *views, const void *params,
                                  collet_error *err)
{
    const collet_reduce_params *p = params;
    const struct op_view *in = &views->operand[1];
    int empty = 0, has_output = 1;
    collet_status status = op_rule_reduce(o, views, params, err);
    if (status != COLLET_OK)
        return status;
    for (int32_t i = 0; i < in->ndim; i++) {
        if (p->axes >> i & 1)
            empty |= in->shape[i] == 0;
        else
            has_output &= in->shape[i] != 0;
    }
    return empty && has_output ? op_shape_error(o, views, "it is not defined for no elements", err)
                               : COLLET_OK;
}

/* ---- Typed calls ------------------------------------------------------------------------- */

collet_status collet_fill(collet_context *cx, collet_array *out, const collet_scalar *value)
{
    if (!value)
        return context_fail(cx, COLLET_INVALID, "fill: the value is NULL");
    collet_fill_params params = {.struct_size = sizeof params, .value = *value};
    return collet_call(cx, COLLET_OP_FILL, &out, NULL, &params);
}

#define UNARY(name, OP)                                                                            \
    collet_status collet_##name(collet_context *cx, collet_array *out, const collet_array *a)      \
    {                                                                                              \
        return collet_call(cx, COLLET_OP_##OP, &out, &a, NULL);                                    \
    }

#define BINARY(name, OP)                                                                           \
    collet_status collet_##name(collet_context *cx, collet_array *out, const collet_array *a,      \
                                const collet_array *b)                                             \
    {                                                                                              \
        return collet_call(cx, COLLET_OP_##OP, &out, INS(a, b), NULL);                             \
    }

/* clang-format off */
BINARY(add, ADD)
BINARY(sub, SUB)
BINARY(mul, MUL)
BINARY(div, DIV)
UNARY(copy, COPY)
UNARY(exp, EXP)
UNARY(log, LOG)
UNARY(sqrt, SQRT)
UNARY(sin, SIN)
UNARY(cos, COS)
UNARY(tanh, TANH)
UNARY(neg, NEG)
UNARY(abs, ABS)
UNARY(conj, CONJ)
/* clang-format on */

collet_status collet_axpy(collet_context *cx, collet_array *out, const collet_scalar *alpha,
                          const collet_array *x, const collet_array *y)
{
    if (!alpha)
        return context_fail(cx, COLLET_INVALID, "axpy: alpha is NULL");
    collet_axpy_params params = {.struct_size = sizeof params, .alpha = *alpha};
    return collet_call(cx, COLLET_OP_AXPY, &out, INS(x, y), &params);
}

collet_status collet_transpose(collet_context *cx, collet_array *out, const collet_array *a,
                               const int32_t *perm)
{
    collet_transpose_params params = {.struct_size = sizeof params};
    params.ndim = a ? (uint32_t)collet_array_ndim(a) : 0;
    for (uint32_t i = 0; i < params.ndim; i++)
        params.perm[i] = perm ? perm[i] : (int32_t)(params.ndim - 1 - i);
    return collet_call(cx, COLLET_OP_TRANSPOSE, &out, &a, &params);
}

collet_status call_axes(collet_context *cx, const char *name, const collet_array *a,
                        const int32_t *axes, int32_t count, uint32_t *mask)
{
    int32_t ndim = a ? collet_array_ndim(a) : 0;
    if (count < 0 || (count && !axes))
        return context_fail(cx, COLLET_INVALID, "%s: %d axes at %s", name, count,
                            axes ? "an address" : "no address");
    *mask = axes ? 0 : (1u << ndim) - 1;
    for (int32_t i = 0; a && i < count; i++) {
        int32_t axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (axis < 0 || axis >= ndim || *mask >> axis & 1)
            return context_fail(
                cx, COLLET_INVALID,
                "%s: axis %d is not one of the %d axes of the array, or named twice", name, axes[i],
                ndim);
        *mask |= 1u << axis;
    }
    return COLLET_OK;
}

static collet_status reduce(collet_context *cx, uint32_t id, const char *name, collet_array *out,
                            const collet_array *a, const int32_t *axes, int32_t count,
                            int32_t keepdims)
{
    collet_reduce_params params = {.struct_size = sizeof params, .keepdims = keepdims != 0};
    collet_status status = call_axes(cx, name, a, axes, count, &params.axes);
    return status == COLLET_OK ? collet_call(cx, id, &out, &a, &params) : status;
}

#define REDUCTION(name, OP)                                                                        \
    collet_status collet_##name(collet_context *cx, collet_array *out, const collet_array *a,      \
                                const int32_t *axes, int32_t count, int32_t keepdims)              \
    {                                                                                              \
        return reduce(cx, COLLET_OP_##OP, #name, out, a, axes, count, keepdims);                   \
    }

/* clang-format off */
REDUCTION(sum, SUM)
REDUCTION(mean, MEAN)
REDUCTION(min, MIN)
REDUCTION(max, MAX)
REDUCTION(argmax, ARGMAX)
/* clang-format on */
