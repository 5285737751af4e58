/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/axes.c, conformance/array/reduce.c */
#include "axes.h"

static uint64_t size_of(int64_t stride)
{
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* Insertion sort: there are at most COLLET_MAX_DIMS, and it is stable. */
static void sort(jit_axis *axes, int32_t count, int by)
{
    for (int32_t i = 1; i < count; i++) {
        jit_axis moved = axes[i];
        int32_t at = i;
        for (; at > 0 && size_of(axes[at - 1].stride[by]) < size_of(moved.stride[by]); at--)
            axes[at] = axes[at - 1];
        axes[at] = moved;
    }
}

static int adjoin(const jit_axis *outer, const jit_axis *inner)
{
    return outer->stride[0] == inner->stride[0] * inner->extent &&
           outer->stride[1] == inner->stride[1] * inner->extent;
}

int32_t jit_axes_merge(jit_axis *axes, int32_t count, int by)
{
    int32_t left = 0, merged = 0;
    for (int32_t i = 0; i < count; i++)
        if (axes[i].extent != 1)
            axes[left++] = axes[i];
    sort(axes, left, by);
    for (int32_t i = 0; i < left; i++) {
        jit_axis *last = merged ? &axes[merged - 1] : NULL;
        if (last && adjoin(last, &axes[i])) {
            last->extent *= axes[i].extent;
            last->stride[0] = axes[i].stride[0];
            last->stride[1] = axes[i].stride[1];
        } else {
            axes[merged++] = axes[i];
        }
    }
    return merged;
}
