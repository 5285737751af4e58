/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searchsorted. Several values are searched at once, without branches: the memory accesses of one
 * search wait for each other, the steps of different searches do not.
 * Tests: conformance/index/sort.c
 */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/runtime/team.h"
#include "rows.h"
#include "shared/host/index/keys.h"
#include "shared/host/util/counts.h"

#define GRAIN 512 /* values per thread, at least */
#define GROUP 16  /* values at once */

typedef struct job {
    index_order order;
    const char *a;
    int64_t n, step; /* of the sorted array */
    uint64_t size;   /* bytes of an element */
    int right;
    loop values; /* view 0 is the output */
} job;

/* `size` is a constant. */
static inline __attribute__((always_inline)) void
search_group(const job *j, uint64_t size, const uint64_t *wanted, int64_t *found, int count)
{
    index_order order = j->order;
    for (int k = 0; k < count; k++)
        found[k] = 0;
    for (int64_t left = j->n; left > 0;) {
        int64_t half = left - left / 2;
        for (int k = 0; k < count; k++) {
            const char *at = j->a + (found[k] + half - 1) * j->step;
            uint64_t key = index_key_u64(&order, index_load(at, size));
            found[k] += key < wanted[k] || (j->right && key == wanted[k]) ? half : 0;
        }
        left -= half;
    }
}

static void search_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const job *j = context;
    for (int64_t i = 0; i < n; i += GROUP) {
        int count = (int)min_i64(n - i, GROUP);
        uint64_t wanted[GROUP];
        int64_t found[GROUP];
        for (int k = 0; k < count; k++)
            wanted[k] = index_key_u64(&j->order, index_load(at[1] + (i + k) * step[1], j->size));
        if (j->size == 8)
            search_group(j, 8, wanted, found, count);
        else if (j->size == 4)
            search_group(j, 4, wanted, found, count);
        else if (j->size == 2)
            search_group(j, 2, wanted, found, count);
        else
            search_group(j, 1, wanted, found, count);
        for (int k = 0; k < count; k++)
            *(int64_t *)(void *)(at[0] + (i + k) * step[0]) = found[k];
    }
}

static TEAM_BODY(search_part)
{
    const job *j = argument;
    loop_run(&j->values, begin, end, search_row, j);
}

KERNEL(searchsorted)
{
    const collet_operand *a = operand_of(call, 1);
    const collet_searchsorted_params *params = call->params;
    job j = {.order = index_order_of(a->dtype, 0, 1),
             .a = cpu_at(a),
             .n = a->shape[0],
             .step = cpu_step(a, 0),
             .size = cpu_dtype_size(a->dtype),
             .right = params->right != 0,
             .values = index_rows(operand_of(call, 0), operand_of(call, 2), -1)};
    team_run(device->threads, j.values.count, GRAIN, search_part, &j);
    return COLLET_OK;
}
