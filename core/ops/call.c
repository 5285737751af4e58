/* SPDX-License-Identifier: Apache-2.0 */
#include "call.h"

#include "context/context.h"

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
