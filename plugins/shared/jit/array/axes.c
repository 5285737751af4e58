/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/axes.c, conformance/array/reduce.c */
#include "axes.h"

static uint64_t size_of(int64_t stride)
{
    return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

uint64_t jit_axis_span(const jit_axis *axis, uint32_t inputs)
{
    uint64_t sum = 0;
    for (uint32_t k = 1; k <= inputs; k++)
        sum += size_of(axis->stride[k]);
    return sum;
}

static uint64_t key_of(const jit_axis *axis, uint32_t inputs, int by_inputs)
{
    return by_inputs ? jit_axis_span(axis, inputs) : size_of(axis->stride[0]);
}

/* Uses insertion sort, because it is stable and there are at most COLLET_MAX_DIMS axes. */
static void sort(jit_axis *axes, int32_t count, uint32_t inputs, int by_inputs)
{
    for (int32_t i = 1; i < count; i++) {
        jit_axis moved = axes[i];
        uint64_t key = key_of(&moved, inputs, by_inputs);
        int32_t at = i;
        for (; at > 0 && key_of(&axes[at - 1], inputs, by_inputs) < key; at--)
            axes[at] = axes[at - 1];
        axes[at] = moved;
    }
}

static int adjoin(const jit_axis *outer, const jit_axis *inner, uint32_t inputs)
{
    for (uint32_t k = 0; k <= inputs; k++)
        if (outer->stride[k] != inner->stride[k] * inner->extent)
            return 0;
    return 1;
}

int32_t jit_axes_merge(jit_axis *axes, int32_t count, uint32_t inputs, int by_inputs)
{
    int32_t left = 0, merged = 0;
    for (int32_t i = 0; i < count; i++)
        if (axes[i].extent != 1)
            axes[left++] = axes[i];
    sort(axes, left, inputs, by_inputs);
    for (int32_t i = 0; i < left; i++) {
        jit_axis *last = merged ? &axes[merged - 1] : NULL;
        if (last && adjoin(last, &axes[i], inputs)) {
            int64_t extent = last->extent;
            *last = axes[i];
            last->extent *= extent;
        } else {
            axes[merged++] = axes[i];
        }
    }
    return merged;
}
