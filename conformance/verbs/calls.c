/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of kernels: the state that they must not change, and their workspace.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

/* ---- Parameters and workspace under slow work ---------------------------------------------- */

#define N 1024

/* An operand of elements 0..N-1 of a buffer, with `rank` axes. */
static testbed_operand of_rank(const testbed *b, void *buffer, int32_t rank)
{
    testbed_operand o = testbed_vector(b, buffer, 0, N);
    o.ndim = rank;
    int64_t stride = N;
    for (int32_t axis = 0; axis < rank; axis++) {
        o.shape[axis] = axis < rank - 1 ? 2 : stride;
        stride /= o.shape[axis];
        o.strides[axis] = stride;
    }
    return o;
}

/* Adds y to z with operands of 1, 2, ... axes; returns the number of additions. */
static int add_ranks(testbed *b, collet_queue *q, void *z, void *y)
{
    int added = 0;
    for (int32_t rank = 1; rank <= COLLET_MAX_DIMS; rank++) {
        testbed_operand add[3] = {of_rank(b, z, rank), of_rank(b, z, rank), of_rank(b, y, rank)};
        collet_status status = try_run(b, q, (uint32_t)b->add, add, 3, 1, NULL, NULL, 0);
        testbed_require(b, status == COLLET_OK || status == COLLET_REFUSED,
                        "run of add with %d axes returned %s", rank, collet_status_name(status));
        added += status == COLLET_OK;
    }
    return added;
}

/* Parameter block, shapes and operands are overwritten before the kernels begin. */
static void arguments(testbed *b)
{
    testbed_slow(b);
    collet_queue *q = testbed_queue(b);
    int32_t fill = testbed_row(b, COLLET_OP_FILL, COLLET_SIG(b->dtype));
    void *one = testbed_numbers(b, q, 1, 1), *x = testbed_numbers(b, q, b->elements, 0);
    void *y = testbed_numbers(b, q, N, 0), *z = testbed_numbers(b, q, N, 10);
    collet_fill_params params = {.struct_size = sizeof params, .value = {.dtype = b->dtype}};
    if (b->dtype == COLLET_F32)
        params.value.value.f32 = 7;
    else
        params.value.value.f64 = 7;
    testbed_chain(b, q, x, one, b->elements, CHAIN);
    testbed_operand out = testbed_vector(b, y, 0, N);
    if (fill >= 0)
        testbed_require(b, try_run(b, q, (uint32_t)fill, &out, 1, 1, &params, NULL, 0) == COLLET_OK,
                        "run of fill failed");
    int added = add_ranks(b, q, z, y);
    testbed_expect(b, q, y, N, fill >= 0 ? 7 : 0,
                   "fill, whose parameters were overwritten after the call");
    testbed_expect(b, q, z, N, 10 + (fill >= 0 ? 7 * added : 0),
                   "add, whose arguments were overwritten after the call");
    testbed_settle(b, q);
    testbed_free_all(b, one, x, y, z);
    testbed_destroy(b, q);
}

#define SUMS 64

typedef struct sum_work {
    collet_queue *q;
    void *in, *out, *scratch;
} sum_work;

/* Sums over the first axis in several queues at once. Each sum has as many numbers as the slow
 * work. */
static void workspace(testbed *b)
{
    int32_t row = testbed_row(b, COLLET_OP_SUM, COLLET_SIG(b->dtype, b->dtype));
    if (row < 0)
        testbed_skip(b, "the device has no kernel sum");
    testbed_slow(b);
    int64_t terms = b->elements / SUMS;
    terms = terms < 1 << 12 ? 1 << 12 : terms > 1 << 16 ? 1 << 16 : terms;
    collet_reduce_params params = {.struct_size = sizeof params, .axes = 1};
    collet_queue *queues[4];
    sum_work w[4];
    int count = testbed_queues(b, queues, 4);
    for (int i = 0; i < count; i++)
        w[i] = (sum_work){.q = queues[i],
                          .in = testbed_numbers(b, queues[i], terms * SUMS, i + 1),
                          .out = testbed_numbers(b, queues[i], SUMS, 0)};
    for (int round = 0; round < 6; round++)
        for (int i = 0; i < count; i++) {
            testbed_operand sum[2] = {testbed_vector(b, w[i].out, 0, SUMS),
                                      testbed_vector(b, w[i].in, 0, terms)};
            uint64_t bytes = 0;
            sum[1].ndim = 2;
            sum[1].shape[1] = SUMS;
            sum[1].strides[0] = SUMS;
            sum[1].strides[1] = 1;
            testbed_require(b,
                            try_accepts(b, (uint32_t)row, sum, 2, 1, &params, &bytes) == COLLET_OK,
                            "sum is refused");
            if (bytes && round == 0)
                w[i].scratch = testbed_alloc(b, bytes);
            testbed_require(b,
                            try_run(b, w[i].q, (uint32_t)row, sum, 2, 1, &params, w[i].scratch,
                                    bytes) == COLLET_OK,
                            "run of sum failed");
        }
    for (int i = 0; i < count; i++) {
        testbed_expect(b, w[i].q, w[i].out, SUMS, (double)(terms * (i + 1)),
                       "sums in several queues, each with a workspace of its own");
        testbed_settle(b, w[i].q);
        testbed_free_all(b, w[i].in, w[i].out);
        if (w[i].scratch)
            testbed_free(b, w[i].scratch);
        testbed_destroy(b, w[i].q);
    }
}

const kit_verb verbs_calls[] = {
    {"calls.arguments", NEEDS_ADD, arguments},
    {"calls.workspace", NEEDS_ADD, workspace},
    {0},
};
