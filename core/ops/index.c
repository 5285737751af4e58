/* SPDX-License-Identifier: Apache-2.0 */
/* Typed calls of the index family.
 * Tests: tests/core/test_call.c */
#include <collet/ops/index.h>

#include "call.h"

collet_status collet_op_sort(collet_context *cx, collet_array *out, const collet_array *a,
                             int32_t axis, int32_t descending)
{
    collet_sort_params params = {
        .struct_size = sizeof params, .axis = axis, .descending = descending != 0};
    return collet_call(cx, COLLET_OP_SORT, &out, &a, &params);
}

collet_status collet_op_argsort(collet_context *cx, collet_array *out, const collet_array *a,
                                int32_t axis, int32_t descending)
{
    collet_sort_params params = {
        .struct_size = sizeof params, .axis = axis, .descending = descending != 0};
    return collet_call(cx, COLLET_OP_ARGSORT, &out, &a, &params);
}

collet_status collet_op_partition(collet_context *cx, collet_array *out, const collet_array *a,
                                  int64_t kth, int32_t axis)
{
    collet_partition_params params = {.struct_size = sizeof params, .axis = axis, .kth = kth};
    return collet_call(cx, COLLET_OP_PARTITION, &out, &a, &params);
}

collet_status collet_op_searchsorted(collet_context *cx, collet_array *out, const collet_array *a,
                                     const collet_array *v, int32_t right)
{
    collet_searchsorted_params params = {.struct_size = sizeof params, .right = right != 0};
    return collet_call(cx, COLLET_OP_SEARCHSORTED, &out, INS(a, v), &params);
}
