/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_call.c */
#include "call.h"

#include "context/context.h"

collet_status call_axes(collet_context *cx, const char *name, const collet_array *a,
                        const int32_t *axes, int32_t count, uint32_t *mask)
{
    int32_t ndim = a ? collet_array_ndim(a) : 0;
    if (count < 0)
        return context_fail(cx, COLLET_INVALID, "%s: count is %d; it must not be negative", name,
                            count);
    if (count && !axes)
        return context_fail(cx, COLLET_INVALID, "%s: axes is NULL but count is %d", name, count);
    *mask = axes ? 0 : (1u << ndim) - 1;
    for (int32_t i = 0; a && i < count; i++) {
        int32_t axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
        if (axis < 0 || axis >= ndim)
            return context_fail(cx, COLLET_INVALID,
                                "%s: axis %d is out of range: the array has %d axes", name, axes[i],
                                ndim);
        if (*mask >> axis & 1)
            return context_fail(cx, COLLET_INVALID, "%s: axis %d is named twice", name, axes[i]);
        *mask |= 1u << axis;
    }
    return COLLET_OK;
}
