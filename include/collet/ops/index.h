/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/ops/index.h - typed calls, inline, of the index family: sorting and indexing.
 *
 * Sorting: arrays have any real dtype, and indices are i64. NaN is greater than every number. A negative axis counts
 * from the last axis; INVALID if the array does not have it.
 *
 * Indexing: along the last axis; collet_array_permute gives a view with another axis last. Any dtype where
 * elements are only moved.
 *
 * collet/call.h states the rules that hold for every call; docs/KERNELS.md has the
 * definitions. Each row COLLET_CALL of index.def becomes a call, too (typed.h); the comments
 * there describe these calls.
 */
#ifndef COLLET_OPS_INDEX_H
#define COLLET_OPS_INDEX_H

#include <collet/collet.h>
#include <collet/ops/typed.h>

#ifdef __cplusplus
extern "C" {
#endif

#define COLLET_CALL COLLET_TYPED_CALL
#define COLLET_CALL_PARAMS COLLET_TYPED_CALL_PARAMS
#include <collet/ops/begin.def>
#include <collet/ops/index.def>
#include <collet/ops/end.def>

/* The elements of `a` in ascending order along `axis`, or in descending order; -0 is smaller than
 * +0. */
static inline collet_status collet_op_sort(collet_context *context, collet_array *out,
                                           const collet_array *a, int32_t axis, int32_t descending)
{
    collet_sort_params params = {sizeof params, axis, descending != 0, 0};
    return collet_call(context, COLLET_OP_SORT, &out, &a, &params);
}

/* The indices along `axis` of the elements in sorted order (collet_op_sort). Equal elements, zeros of either
 * sign too, keep their order in both directions. */
static inline collet_status collet_op_argsort(collet_context *context, collet_array *out,
                                              const collet_array *a, int32_t axis,
                                              int32_t descending)
{
    collet_sort_params params = {sizeof params, axis, descending != 0, 0};
    return collet_call(context, COLLET_OP_ARGSORT, &out, &a, &params);
}

/* Rearranges the elements of `a` along `axis`: index kth (negative: from the end) gets the element that it would get
 * by sorting. No element before index kth is greater, and no element after it is smaller. INVALID if the axis has
 * elements, but none with index kth. */
static inline collet_status collet_op_partition(collet_context *context, collet_array *out,
                                                const collet_array *a, int64_t kth, int32_t axis)
{
    collet_partition_params params = {sizeof params, axis, kth};
    return collet_call(context, COLLET_OP_PARTITION, &out, &a, &params);
}

/* For each element x of `v` the number of elements of `a` that are less than x or, with right != 0,
 * less than or equal to x. `a` has one axis and must be in ascending order; otherwise each result
 * is an unspecified number from 0 to the length of `a`. */
static inline collet_status collet_op_searchsorted(collet_context *context, collet_array *out,
                                                   const collet_array *a, const collet_array *v,
                                                   int32_t right)
{
    const collet_array *const from[] = {a, v};
    collet_searchsorted_params params = {sizeof params, right != 0};
    return collet_call(context, COLLET_OP_SEARCHSORTED, &out, from, &params);
}

#ifdef __cplusplus
}
#endif
#endif
