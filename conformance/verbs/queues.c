/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of several queues, of one queue, and of destroying queues.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

/* A queue is destroyed while its work is under way and another queue has been told to wait for it.
 * */
static void destroyed(testbed *b)
{
    testbed_slow(b);
    int64_t n = b->elements;
    testbed_need_queues(b, 2);
    collet_queue *other = testbed_queue(b), *third = b->max_queues > 3 ? testbed_queue(b) : NULL;
    void *one = testbed_numbers(b, other, 1, 1), *y = testbed_numbers(b, other, n, 0);
    testbed_settle(b, other);
    for (int i = 0; i < 4; i++) {
        collet_queue *q = testbed_queue(b);
        void *x = testbed_numbers(b, q, n, 0);
        testbed_chain(b, q, x, one, n, CHAIN / 2);
        if (third) { /* `third` reaches its wait only after q was destroyed */
            testbed_chain(b, third, y, one, n, CHAIN);
            testbed_after(b, third, q, testbed_mark(b, q));
        }
        testbed_after(b, other, q, testbed_mark(b, q));
        testbed_chain(b, other, x, one, n, 1);
        testbed_destroy(b, q);
        /* The memory of the destroyed queue may be in use for another object now. */
        collet_queue *next = testbed_queue(b);
        if (i % 2)
            testbed_destroy(b, next);
        testbed_expect(b, other, x, n, CHAIN / 2 + 1, "work that waits for a destroyed queue");
        if (i % 2 == 0)
            testbed_destroy(b, next);
        if (third)
            testbed_settle(b, third);
        testbed_free(b, x);
    }
    testbed_free_all(b, one, y);
    testbed_destroy(b, other);
    if (third)
        testbed_destroy(b, third);
}

/* queue_destroy waits for the queue's commands. */
static void unfinished(testbed *b)
{
    testbed_slow(b);
    int64_t n = b->elements;
    collet_queue *q = testbed_queue(b);
    void *one = testbed_numbers(b, q, 1, 1), *x = testbed_numbers(b, q, n, 0);
    unsigned char zeros[256] = {0};
    testbed_chain(b, q, x, one, n, CHAIN);
    testbed_write(b, q, x, 0, zeros, sizeof zeros);
    testbed_destroy(b, q);
    q = testbed_queue(b);
    float values[64];
    testbed_read(b, q, x, 0, values, sizeof values);
    testbed_require(b, !memcmp(values, zeros, sizeof zeros),
                    "queue_destroy returned before a write in the queue was done");
    char *all = kit_memory((size_t)(n * b->size));
    testbed_read(b, q, x, 0, all, (uint64_t)(n * b->size));
    testbed_write(b, q, x, 0, all + 256, 256);
    free(all);
    testbed_expect(b, q, x, n, CHAIN, "work enqueued in a destroyed queue");
    testbed_free_all(b, one, x);
    testbed_destroy(b, q);
}

typedef struct shared_work {
    void *one, *shared;
    int64_t n;
} shared_work;

static void work_alone(testbed *b, int number, void *user)
{
    const shared_work *work = user;
    collet_queue *q = testbed_queue(b);
    for (int i = 0; i < 12; i++) {
        int64_t n = 100 + 977 * ((number + i) % 5);
        void *x = testbed_numbers(b, q, n, number);
        testbed_chain(b, q, x, work->one, n, 5);
        testbed_operand add[3] = {testbed_vector(b, x, 0, n), testbed_vector(b, x, 0, n),
                                  testbed_vector(b, work->shared, 0, n)};
        testbed_require(b, try_run(b, q, (uint32_t)b->add, add, 3, 1, NULL, NULL, 0) == COLLET_OK,
                        "run of add failed");
        testbed_expect(b, q, x, n, number + 5 + 1000, "work of a thread in its own queue");
        testbed_settle(b, q);
        testbed_free(b, x);
    }
    testbed_destroy(b, q);
}

/* Several threads, each with its own queue, buffers and work, read one buffer at the same time. */
static void threads(testbed *b)
{
    int count = b->has_queues && b->max_queues < 7 ? (int)b->max_queues - 1 : 6;
    if (count < 2)
        testbed_skip(b, "the device has one queue");
    collet_queue *q = testbed_queue(b);
    shared_work work = {.n = 5000};
    work.one = testbed_numbers(b, q, 1, 1);
    work.shared = testbed_numbers(b, q, work.n, 1000);
    testbed_settle(b, q);
    testbed_threads(b, count, work_alone, &work);
    testbed_expect(b, q, work.shared, work.n, 1000, "a buffer that several queues read");
    testbed_free_all(b, work.one, work.shared);
    testbed_destroy(b, q);
}

/* Every kind of command, in one queue, more than once. */
static void one(testbed *b)
{
    uint32_t most = b->max_queues;
    b->max_queues = 1;
    for (int i = 0; i < 3; i++)
        testbed_scenario(b);
    b->max_queues = most;
}

/* A device without a limit has many queues at once. */
static void many(testbed *b)
{
    collet_queue *q[48] = {0};
    int count = testbed_queues(b, q, 48);
    void *one_ = testbed_numbers(b, q[0], 1, 1), *x[48];
    testbed_settle(b, q[0]);
    for (int i = 0; i < count; i++) {
        x[i] = testbed_numbers(b, q[i], 500, i);
        testbed_chain(b, q[i], x[i], one_, 500, 4);
    }
    for (int i = count; i-- > 0;)
        testbed_expect(b, q[i], x[i], 500, i + 4, "work in many queues");
    for (int i = 0; i < count; i++) {
        testbed_settle(b, q[i]);
        testbed_free(b, x[i]);
        testbed_destroy(b, q[i]);
    }
    testbed_free(b, one_);
}

#define BATCH 1000
#define DEEP 70000 /* beyond 16 bits */
#define DEEP_NS 6000000000

/* Another queue waits for a command that is followed by thousands of commands. */
static void follow_deep(testbed *b, collet_queue *q, void *one_)
{
    if (b->max_queues < 2)
        return;
    testbed_slow(b);
    collet_queue *other = testbed_queue(b);
    void *x = testbed_numbers(b, q, b->elements, 0);
    testbed_settle(b, q);
    for (int i = 0; i < 4; i++) {
        testbed_chain(b, q, x, one_, b->elements, 4);
        testbed_chain(b, q, x, one_, 16, 70 * i); /* so that all bytes of a counter change */
        testbed_after(b, other, q, testbed_mark(b, q));
        testbed_chain(b, other, x, one_, 16, 1);
        testbed_expect(b, other, x, 16, (i + 1) * (4 + 1) + 70 * (i * (i + 1) / 2),
                       "work in a queue that waits for thousands of calls in another");
        testbed_after(b, q, other, testbed_mark(b, other));
    }
    testbed_settle(b, q);
    testbed_free(b, x);
    testbed_destroy(b, other);
}

/* Enqueues more commands than fit into any ring, and than a 16-bit counter can count. */
static void deep(testbed *b)
{
    collet_queue *q = testbed_queue(b);
    void *one_ = testbed_numbers(b, q, 1, 1), *x = testbed_numbers(b, q, 16, 0);
    int64_t start = testbed_now();
    uint64_t last = testbed_mark(b, q);
    int count = 0;
    while (count < 5 * BATCH || (count < DEEP && testbed_now() - start < DEEP_NS)) {
        testbed_chain(b, q, x, one_, 16, BATCH);
        count += BATCH;
        uint64_t mark = testbed_mark(b, q);
        testbed_require(b, mark >= last, "queue_mark decreased from %llu to %llu",
                        (unsigned long long)last, (unsigned long long)mark);
        last = mark;
    }
    testbed_expect(b, q, x, 16, count, "thousands of additions in a queue");
    testbed_wait(b, q, last);
    testbed_require(b, testbed_mark(b, q) >= last, "queue_mark decreased when all was done");
    follow_deep(b, q, one_);
    testbed_free_all(b, one_, x);
    testbed_destroy(b, q);
}

const kit_verb verbs_queues[] = {
    {"queues.destroyed", NEEDS_ADD | NEEDS_QUEUES, destroyed},
    {"queues.unfinished", NEEDS_ADD | NEEDS_QUEUES, unfinished},
    {"queues.threads", NEEDS_ADD, threads},
    {"queues.one", 0, one},
    {"queues.many", NEEDS_ADD | NEEDS_QUEUES, many},
    {"queues.deep", NEEDS_ADD, deep},
    {0},
};
