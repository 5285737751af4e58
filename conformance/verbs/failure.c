/* SPDX-License-Identifier: Apache-2.0 */
/* A queue in which a kernel fails, if the plugin has the setting NAME.fail: the number of the
 * kernel that fails. */
#include "verbs/verbs.h"

static void stays(bench *b)
{
    enum { N = 1000 };
    if (!target_set(b->target, "fail", "2"))
        bench_skip(b, "the plugin has no setting %s.fail", b->plugin->name);
    bench_open(b);
    collet_queue *q = bench_queue(b), *other;
    void *one = bench_numbers(b, q, 1, 1), *x = bench_numbers(b, q, N, 0);
    void *y = bench_numbers(b, q, N, 0);
    uint64_t marks[3];
    for (int i = 0; i < 3; i++) {
        bench_chain(b, q, i ? y : x, one, N, 1);
        marks[i] = bench_mark(b, q);
    }
    collet_status last = try_wait(b, q, marks[2], -1);
    bench_require(b, last == COLLET_FAILED, "queue_wait for what follows a failure returned %s",
                  collet_status_name(last));
    for (int i = 0; i < 2; i++)
        for (int k = 2; k >= 0; k--) {
            collet_status status = try_wait(b, q, marks[k], i ? 0 : -1);
            bench_require(b, status == (k ? COLLET_FAILED : COLLET_OK),
                          "queue_wait for a value %s a failure returned %s",
                          k ? "at or after" : "before", collet_status_name(status));
        }
    float bytes[16];
    bench_require(b, try_read(b, q, y, 0, bytes, sizeof bytes) != COLLET_OK,
                  "buffer_read in a failed queue returned OK");
    if (b->max_queues < 2)
        bench_destroy(b, q);
    other = bench_queue(b);
    bench_expect(b, other, x, N, 1, "what was done before a failure");
    if (b->max_queues > 1)
        bench_destroy(b, q);
    bench_free(b, x);
    bench_free(b, y);
    x = bench_numbers(b, other, N, 5);
    bench_chain(b, other, x, one, N, 1);
    bench_expect(b, other, x, N, 6, "work in a new queue after another failed");
    bench_free(b, x);
    bench_free(b, one);
    bench_destroy(b, other);
}

const kit_verb verbs_failure[] = {
    {"failure.stays", NEEDS_ADD | NEEDS_QUEUES | NEEDS_CLOSED, stays},
    {0},
};
