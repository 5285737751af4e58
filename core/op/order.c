/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_evaluate.c, python/tests/op/test_layout.py */
#include "order.h"

#include <stdlib.h>
#include <string.h>

/* Permutes the axes of operand v: the new axis k is the old axis order[k]. */
static void permute(struct op_view *v, int64_t (*mine)[COLLET_MAX_DIMS], const int32_t *order)
{
    int64_t shape[COLLET_MAX_DIMS], strides[COLLET_MAX_DIMS];
    for (int32_t k = 0; k < v->ndim; k++) {
        shape[k] = v->shape[order[k]];
        strides[k] = v->strides[order[k]];
    }
    memcpy(mine[0], shape, sizeof shape);
    memcpy(mine[1], strides, sizeof strides);
    v->shape = mine[0];
    v->strides = mine[1];
}

/* 1: strides do not grow along the axes `order`; -1: they do; 0: the operand repeats elements. */
static int falls(const struct op_view *v, const int32_t *order)
{
    int64_t last = INT64_MAX;
    int found = 1;
    for (int32_t k = 0; k < v->ndim; k++) {
        int64_t stride = llabs(v->strides[order[k]]);
        if (v->shape[order[k]] <= 1)
            continue;
        if (stride == 0)
            return 0;
        found = stride > last ? -1 : found;
        last = stride;
    }
    return found;
}

/* The axes of operand v: first the axes of one element, then the other axes by falling stride. */
static void sort_by_strides(const struct op_view *v, int32_t *order)
{
    int64_t key[COLLET_MAX_DIMS];
    for (int32_t i = 0; i < v->ndim; i++) {
        int64_t stride = v->shape[i] <= 1 ? INT64_MAX : llabs(v->strides[i]);
        int32_t at = i;
        for (; at > 0 && key[at - 1] < stride; at--) {
            key[at] = key[at - 1];
            order[at] = order[at - 1];
        }
        key[at] = stride;
        order[at] = i;
    }
}

/* Finds the order of axes in which the strides of every input fall. Inputs that repeat elements are ignored.
 * 0: there is no such order, or it is C order. */
static int common_order(const struct op_view *in, uint32_t count, int32_t *order)
{
    int found = 0;
    for (int32_t k = 0; k < COLLET_MAX_DIMS; k++)
        order[k] = k;
    for (uint32_t i = 0; i < count; i++) {
        int fits = in[i].shape ? falls(&in[i], order) : 0;
        if (fits == 0)
            continue;
        if ((fits > 0) != found)
            return 0;
        if (fits < 0)
            sort_by_strides(&in[i], order);
        found = 1;
    }
    return found;
}

uint32_t op_sort_reduced(op_shapes *views, uint32_t n_out, uint32_t n_in, uint32_t axes,
                         int keepdims, op_scratch *scratch)
{
    struct op_view *in = &views->operand[n_out];
    int32_t order[COLLET_MAX_DIMS], kept[COLLET_MAX_DIMS], place[COLLET_MAX_DIMS];
    int32_t ndim = in[0].shape ? in[0].ndim : 0, n = 0;
    uint32_t sorted = 0;
    if (ndim < 2 || !common_order(in, n_in, order))
        return axes;
    for (int32_t k = 0; k < ndim; k++) {
        place[k] = n;
        n += keepdims || !(axes >> k & 1);
    }
    n = 0;
    for (int32_t k = 0; k < ndim; k++) {
        sorted |= (axes >> order[k] & 1) << k;
        if (keepdims || !(axes >> order[k] & 1))
            kept[n++] = place[order[k]];
    }
    for (uint32_t i = 0; i < n_out + n_in; i++)
        if (views->operand[i].shape)
            permute(&views->operand[i], scratch[i], i < n_out ? kept : order);
    return sorted;
}
