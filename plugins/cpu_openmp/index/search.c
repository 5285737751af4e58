/* SPDX-License-Identifier: Apache-2.0 */
/*
 * searchsorted. Several values are searched at once, without branches: the memory accesses of one search wait for
 * each other, but the steps of different searches do not.
 * Tests: conformance/index/sort.c
 */
#include "cpu_openmp/runtime/device.h"

#include "cpu_openmp/runtime/team.h"
#include "rows.h"
#include "shared/host/index/keys.h"
#include "shared/host/util/counts.h"

#define GRAIN 512 /* values per thread, at least */
#define GROUP 16  /* the number of values that are searched at a time */

typedef struct job {
    index_order order;
    const char *a;
    int64_t n, step; /* length and step of the sorted array */
    uint64_t size;   /* bytes of an element */
    int right;
    uint64_t *keys; /* the keys of the sorted array, or NULL */
    loop values;    /* view 0 is the output */
} job;

static inline uint64_t key_at(const job *j, const char *at)
{
    return index_key_u64(&j->order, index_load(at, j->size));
}

/* For few values: computes the key of each element that a value is compared with. */
static void search_elements(const job *j, const uint64_t *wanted, int64_t *found, int count)
{
    for (int64_t left = j->n; left > 0;) {
        int64_t half = left - left / 2;
        for (int k = 0; k < count; k++) {
            uint64_t key = key_at(j, j->a + (found[k] + half - 1) * j->step);
            found[k] += key < wanted[k] || (j->right && key == wanted[k]) ? half : 0;
        }
        left -= half;
    }
}

/* For many values: the keys of the sorted array have been computed, and the loop that gathers them vectorises. */
static void search_keys(const job *j, const uint64_t *wanted, int64_t *found)
{
    const uint64_t *keys = j->keys;
    int right = j->right;
    for (int64_t left = j->n; left > 0;) {
        int64_t half = left - left / 2;
        for (int k = 0; k < GROUP; k++) {
            uint64_t key = keys[found[k] + half - 1];
            found[k] += (key < wanted[k]) | (right & (key == wanted[k])) ? half : 0;
        }
        left -= half;
    }
}

static void search_row(const void *context, char *const *at, const int64_t *step, int64_t n)
{
    const job *j = context;
    for (int64_t i = 0; i < n; i += GROUP) {
        int count = (int)min_i64(n - i, GROUP);
        uint64_t wanted[GROUP] = {0};
        int64_t found[GROUP] = {0};
        for (int k = 0; k < count; k++)
            wanted[k] = key_at(j, at[1] + (i + k) * step[1]);
        if (j->keys)
            search_keys(j, wanted, found);
        else
            search_elements(j, wanted, found, count);
        for (int k = 0; k < count; k++)
            *(int64_t *)(void *)(at[0] + (i + k) * step[0]) = found[k];
    }
}

static TEAM_BODY(search_part)
{
    const job *j = argument;
    loop_run(&j->values, begin, end, search_row, j);
}

static TEAM_BODY(make_keys)
{
    const job *j = argument;
    for (int64_t i = begin; i < end; i++)
        j->keys[i] = key_at(j, j->a + i * j->step);
}

static void job_init(job *j, const collet_kernel_call *call)
{
    const collet_operand *a = operand_of(call, 1);
    const collet_searchsorted_params *params = call->params;
    j->order = index_order_of(a->dtype, 0, 1);
    j->a = cpu_at(a);
    j->n = a->shape[0];
    j->step = cpu_step(a, 0);
    j->size = cpu_dtype_size(a->dtype);
    j->right = params->right != 0;
    j->keys = NULL;
    index_rows(&j->values, operand_of(call, 0), operand_of(call, 2), -1);
}

/* Whether there are so many values that it pays to compute the keys of the sorted array first. */
static int has_keys(const collet_kernel_call *call)
{
    int64_t values = operand_count(operand_of(call, 2));
    return values >= GROUP && values >= operand_of(call, 1)->shape[0];
}

ACCEPTS(searchsorted)
{
    int64_t n = operand_of(call, 1)->shape[0];
    (void)device;
    *workspace_bytes = has_keys(call) ? (uint64_t)n * sizeof(uint64_t) : 0;
    return COLLET_OK;
}

KERNEL(searchsorted)
{
    job j;
    job_init(&j, call);
    if (has_keys(call)) {
        j.keys = call->workspace;
        team_run(device->threads, j.n, GRAIN, make_keys, &j);
    }
    team_run(device->threads, j.values.count, GRAIN, search_part, &j);
    return COLLET_OK;
}
