/* SPDX-License-Identifier: Apache-2.0 */
/* The index family: sorting by merging, one row after another.
 * Tests: conformance/index/sort.c */
#include "device.h"

#include <string.h>

#include "shared/host/index/keys.h"
#include "shared/host/util/counts.h"
#include "shared/host/util/rows.h"

typedef struct item {
    uint64_t key;
    int64_t index;
} item;

/* Merges the sorted ranges from[begin..middle) and from[middle..end) into `to`. The merge is stable: if two items are
 * equal, the item of the first range comes first. */
static void merge(item *to, const item *from, int64_t begin, int64_t middle, int64_t end)
{
    int64_t a = begin, b = middle;
    for (int64_t i = begin; i < end; i++) {
        int first = b == end || (a < middle && from[a].key <= from[b].key);
        to[i] = first ? from[a++] : from[b++];
    }
}

/* Sorts n items; `spare` has room for n more items. Returns `items` or `spare`, whichever holds the result. */
static item *sorted(item *items, item *spare, int64_t n)
{
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t i = 0; i < n; i += 2 * width)
            merge(spare, items, i, min_i64(i + width, n), min_i64(i + 2 * width, n));
        item *filled = spare;
        spare = items;
        items = filled;
    }
    return items;
}

/* The axis that is sorted; the parameter structs of all three ops contain it. */
static int32_t axis_of(const collet_kernel_call *call)
{
    const collet_sort_params *sort = call->params;
    const collet_partition_params *partition = call->params;
    int32_t axis = call->op == COLLET_OP_PARTITION ? partition->axis : sort->axis;
    return index_axis(operand_of(call, 1), axis);
}

ACCEPTS(sort)
{
    int64_t n = operand_of(call, 1)->shape[axis_of(call)];
    *workspace_bytes = 2 * (uint64_t)n * sizeof(item);
    return COLLET_OK;
}

/* sort, argsort and partition. partition sorts the whole axis; that is a valid result. */
KERNEL(sort)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    const collet_sort_params *params = call->params;
    int indices = call->op == COLLET_OP_ARGSORT, axis = axis_of(call);
    int descending = call->op != COLLET_OP_PARTITION && params->descending;
    index_order order = index_order_of(in->dtype, descending, indices);
    int64_t n = in->shape[axis], in_step = cpu_step(in, axis), out_step = cpu_step(out, axis);
    uint64_t size = cpu_dtype_size(in->dtype);
    item *items = call->workspace, *spare = items + n;
    cpu_rows walk = {0};
    cpu_rows_view(&walk, in);
    cpu_rows_view(&walk, out);
    walk.shape[axis] = n > 0;
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        for (int64_t k = 0; k < walk.length; k++) {
            const char *from = walk.at[0] + k * walk.inner[0];
            char *to = walk.at[1] + k * walk.inner[1];
            for (int64_t i = 0; i < n; i++)
                items[i] = (item){index_key_u64(&order, index_load(from + i * in_step, size)), i};
            const item *result = sorted(items, spare, n);
            for (int64_t i = 0; i < n; i++)
                if (indices)
                    *(int64_t *)(void *)(to + i * out_step) = result[i].index;
                else
                    index_store(to + i * out_step, size, index_bits_u64(&order, result[i].key));
        }
    return COLLET_OK;
}

KERNEL(searchsorted)
{
    const collet_operand *out = operand_of(call, 0), *a = operand_of(call, 1);
    const collet_searchsorted_params *params = call->params;
    index_order order = index_order_of(a->dtype, 0, 1);
    uint64_t size = cpu_dtype_size(a->dtype);
    cpu_rows walk = {0};
    cpu_rows_view(&walk, out);
    cpu_rows_view(&walk, operand_of(call, 2));
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        for (int64_t k = 0; k < walk.length; k++) {
            uint64_t v = index_key_u64(&order, index_load(walk.at[1] + k * walk.inner[1], size));
            int64_t low = 0, high = a->shape[0];
            while (low < high) {
                int64_t middle = low + (high - low) / 2;
                const char *at = cpu_at(a) + middle * cpu_step(a, 0);
                uint64_t key = index_key_u64(&order, index_load(at, size));
                if (key < v || (params->right && key == v))
                    low = middle + 1;
                else
                    high = middle;
            }
            *(int64_t *)(void *)(walk.at[0] + k * walk.inner[0]) = low;
        }
    return COLLET_OK;
}
