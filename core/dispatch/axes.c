/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_call.c */
#include "context/context.h"

collet_status collet_ops_axes(collet_context *cx, uint32_t id, uint32_t *mask,
                              const collet_array *a, const int32_t *axes, int32_t count)
{
    PROGRAM_CONTEXT(COLLET_INVALID, cx, a);
    collet_status status = context_check(cx);
    if (status != COLLET_OK)
        return status;
    const op *o = runtime_op(cx->runtime, id);
    int32_t ndim = a ? collet_array_ndim(a) : 0;
    if (!o)
        return context_fail(cx, COLLET_NOT_FOUND, "there is no op with the id %u", id);
    if (!mask)
        return context_fail(cx, COLLET_INVALID, "%s: mask is NULL", o->name);
    if (count < 0)
        return context_fail(cx, COLLET_INVALID, "%s: count is %d; it must not be negative", o->name,
                            count);
    if (count && !axes)
        return context_fail(cx, COLLET_INVALID, "%s: axes is NULL but count is %d", o->name, count);
    *mask = axes ? 0 : (1u << ndim) - 1;
    for (int32_t i = 0; a && i < count; i++) {
        int32_t axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (axis < 0 || axis >= ndim)
            return context_fail(cx, COLLET_INVALID,
                                "%s: axis %d is out of range: the array has %d axes", o->name,
                                axes[i], ndim);
        if (*mask >> axis & 1)
            return context_fail(cx, COLLET_INVALID, "%s: axis %d is named twice", o->name, axes[i]);
        *mask |= 1u << axis;
    }
    return COLLET_OK;
}
