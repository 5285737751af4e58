/* SPDX-License-Identifier: Apache-2.0 */
/* A queue in which a kernel fails. The plugin must have the setting NAME.fail, the number of the
 * kernel that fails.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void stays(testbed *b)
{
    enum { N = 1000 };
    if (!target_set(b->target, "fail", "2"))
        testbed_skip(b, "the plugin has no setting %s.fail", b->plugin->name);
    testbed_open(b);
    collet_queue *q = testbed_queue(b), *other;
    void *one = testbed_numbers(b, q, 1, 1), *x = testbed_numbers(b, q, N, 0);
    void *y = testbed_numbers(b, q, N, 0);
    uint64_t marks[3];
    for (int i = 0; i < 3; i++) {
        testbed_chain(b, q, i ? y : x, one, N, 1);
        marks[i] = testbed_mark(b, q);
    }
    collet_status last = try_wait(b, q, marks[2], -1);
    testbed_require(b, last == COLLET_FAILED, "queue_wait for work after a failure returned %s",
                    collet_status_name(last));
    for (int i = 0; i < 2; i++)
        for (int k = 2; k >= 0; k--) {
            collet_status status = try_wait(b, q, marks[k], i ? 0 : -1);
            testbed_require(b, status == (k ? COLLET_FAILED : COLLET_OK),
                            "queue_wait for a value %s a failure returned %s",
                            k ? "at or after" : "before", collet_status_name(status));
        }
    unsigned char bytes[N * sizeof(float)];
    for (uint64_t count = 1; count <= sizeof bytes; count = 2 * count > 64 ? 2 * count : count + 1)
        testbed_require(b, try_read(b, q, y, 0, bytes, count) != COLLET_OK,
                        "buffer_read of %llu bytes in a failed queue returned OK",
                        (unsigned long long)count);
    if (b->max_queues < 2)
        testbed_destroy(b, q);
    other = testbed_queue(b);
    testbed_expect(b, other, x, N, 1, "work before a failure");
    if (b->max_queues > 1)
        testbed_destroy(b, q);
    testbed_free_all(b, x, y);
    x = testbed_numbers(b, other, N, 5);
    testbed_chain(b, other, x, one, N, 1);
    testbed_expect(b, other, x, N, 6, "work in a new queue after another queue failed");
    testbed_free_all(b, x, one);
    testbed_destroy(b, other);
}

/* Creates a queue, lets its second kernel fail and waits for the failure. */
static collet_queue *failed_queue(testbed *b, void *x, void *one)
{
    collet_queue *q = testbed_queue(b);
    testbed_chain(b, q, x, one, 16, 2);
    testbed_require(b, try_wait(b, q, testbed_mark(b, q), -1) == COLLET_FAILED,
                    "queue_wait for a kernel that failed did not return FAILED");
    return q;
}

#define WRITES 150
#define WRITTEN ((uint64_t)1 << 20)

typedef struct writes {
    collet_queue *q;
    void *buffer, *bytes;
    pthread_t thread;
    testbed *b;
} writes;

static void *write_much(void *user)
{
    writes *w = user;
    for (int i = 0; i < WRITES; i++)
        (void)try_write(w->b, w->q, w->buffer, 0, w->bytes, WRITTEN);
    (void)try_wait(w->b, w->q, testbed_mark(w->b, w->q), -1);
    return NULL;
}

#define JOIN_SECONDS 15

/* Joins a thread; false: the thread has not ended in time. */
static bool join_within(pthread_t thread, int64_t seconds)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += seconds;
    return pthread_timedjoin_np(thread, NULL, &end) == 0;
}

/* Writes that are skipped after a failure must free their bytes of staging memory. Together they have more bytes than
 * any staging memory holds. */
static void staged(testbed *b)
{
    if (!target_set(b->target, "fail", "2"))
        testbed_skip(b, "the plugin has no setting %s.fail", b->plugin->name);
    testbed_open(b);
    collet_queue *first = testbed_queue(b);
    void *one = testbed_numbers(b, first, 1, 1), *x = testbed_numbers(b, first, 16, 0);
    writes w = {.b = b, .buffer = testbed_alloc(b, WRITTEN), .bytes = kit_memory(WRITTEN)};
    testbed_settle(b, first);
    testbed_destroy(b, first);
    w.q = failed_queue(b, x, one);
    allocation_watch(b->target->begin, b->target->end);
    int64_t blocks = allocation_live();
    if (pthread_create(&w.thread, NULL, write_much, &w) != 0)
        testbed_skip(b, "backend-check cannot start a thread");
    testbed_require(b, join_within(w.thread, JOIN_SECONDS),
                    "%d writes of 1 MiB in a failed queue did not return within %d s", WRITES,
                    JOIN_SECONDS);
    testbed_check(b);
    testbed_require(b, allocation_live() - blocks < WRITES / 2,
                    "%lld blocks stay allocated after %d writes in a failed queue",
                    (long long)(allocation_live() - blocks), WRITES);
    testbed_destroy(b, w.q);
    testbed_free_all(b, w.buffer, one, x);
    free(w.bytes);
}

typedef struct follower {
    testbed *b;
    collet_queue *q;
} follower;

static void *follow(void *user)
{
    follower *f = user;
    (void)try_wait(f->b, f->q, testbed_mark(f->b, f->q), -1);
    return NULL;
}

/* A queue continues after it has waited for a queue that fails or has failed. */
static void followed(testbed *b)
{
    pthread_t thread;
    testbed_open(b);
    testbed_need_queues(b, 3);
    testbed_slow(b);
    testbed_close(b);
    if (!target_set(b->target, "fail", "2"))
        testbed_skip(b, "the plugin has no setting %s.fail", b->plugin->name);
    testbed_open(b);
    follower f = {.b = b, .q = testbed_queue(b)};
    void *one = testbed_numbers(b, f.q, 1, 1), *x = testbed_numbers(b, f.q, b->elements, 0);
    testbed_settle(b, f.q);
    collet_queue *failed = failed_queue(b, x, one), *fails = testbed_queue(b);
    testbed_chain(b, fails, x, one, b->elements, 4);
    testbed_after(b, f.q, failed, testbed_mark(b, failed));
    testbed_after(b, f.q, fails, testbed_mark(b, fails));
    if (pthread_create(&thread, NULL, follow, &f) != 0)
        testbed_skip(b, "backend-check cannot start a thread");
    testbed_require(b, join_within(thread, JOIN_SECONDS),
                    "a queue that waits for a failed one did not continue within %d s",
                    JOIN_SECONDS);
    testbed_check(b);
    testbed_destroy(b, failed);
    testbed_destroy(b, fails);
    testbed_destroy(b, f.q);
    testbed_free_all(b, one, x);
}

/* After a failure in a queue, a wait for another queue is enqueued in it, then a kernel and a write of memory that the
 * other queue reads. The plugin may skip all three, but not only the wait. */
static void ordered(testbed *b)
{
    enum { N = 1000, FAILS = 40 }; /* FAILS: kernels in a queue, more than in the other queue */
    testbed_open(b);
    testbed_need_queues(b, 2);
    testbed_slow(b);
    testbed_close(b);
    if (!target_set(b->target, "fail", "40"))
        testbed_skip(b, "the plugin has no setting %s.fail", b->plugin->name);
    testbed_open(b);
    collet_queue *q = testbed_queue(b), *fails = testbed_queue(b);
    void *one = testbed_numbers(b, q, 1, 1), *slow = testbed_numbers(b, q, b->elements, 0);
    void *small = testbed_numbers(b, q, 16, 0), *x = testbed_numbers(b, q, N, 5);
    void *y = testbed_numbers(b, q, N, 0), *zeros = kit_memory(N * sizeof(double));
    memset(zeros, 0, N * sizeof(double));
    testbed_settle(b, q);
    testbed_chain(b, q, slow, one, b->elements, CHAIN);
    testbed_operand add[3] = {testbed_vector(b, y, 0, N), testbed_vector(b, x, 0, N),
                              testbed_vector(b, one, 0, N)};
    add[2].strides[0] = 0;
    testbed_require(b, try_run(b, q, (uint32_t)b->add, add, 3, 1, NULL, NULL, 0) == COLLET_OK,
                    "run of add failed");
    testbed_chain(b, fails, small, one, 16, FAILS);
    if (try_after(b, fails, q, testbed_mark(b, q)) == COLLET_OK) {
        add[0] = add[1] = testbed_vector(b, x, 0, N);
        (void)try_run(b, fails, (uint32_t)b->add, add, 3, 1, NULL, NULL, 0);
        (void)try_write(b, fails, x, 0, zeros, (uint64_t)(N * b->size));
    }
    testbed_expect(b, q, y, N, 6,
                   "work in a queue that a failed queue waits for before a write");
    testbed_require(b, try_wait(b, fails, testbed_mark(b, fails), -1) == COLLET_FAILED,
                    "queue_wait for a kernel that failed did not return FAILED");
    testbed_destroy(b, fails);
    testbed_destroy(b, q);
    testbed_free_all(b, one, slow, small, x, y);
    free(zeros);
}

const kit_verb verbs_failure[] = {
    {"failure.stays", NEEDS_ADD | NEEDS_QUEUES | NEEDS_CLOSED, stays},
    {"failure.staged", NEEDS_ADD | NEEDS_QUEUES | NEEDS_MEMORY | NEEDS_CLOSED, staged},
    {"failure.followed", NEEDS_ADD | NEEDS_QUEUES | NEEDS_CLOSED, followed},
    {"failure.ordered", NEEDS_ADD | NEEDS_QUEUES | NEEDS_MEMORY | NEEDS_CLOSED, ordered},
    {0},
};
