/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of the plugin fail in turn: each slot reports the failure or works
 * without the memory, nothing leaks, and the next call works.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdlib.h>

#define MOST 200 /* allocations of one call */

static void need_allocations(testbed *b)
{
    if (!allocation_watched())
        testbed_skip(b, "this backend-check was built with a sanitizer");
    allocation_watch(b->target->begin, b->target->end);
}

/* Runs `body` while allocation 0, 1, ... fails, until `body` makes fewer allocations. `body`
 * returns the status of the slot, which must be OK or `expected` (0: any that the slot may return),
 * and frees what the slot created. */
static void each(testbed *b, const char *slot, collet_status expected,
                 collet_status (*body)(testbed *b))
{
    need_allocations(b);
    testbed_require(b, body(b) == COLLET_OK, "%s failed", slot); /* allocates what is kept */
    bool failed = true;
    for (int64_t n = 0; n < MOST && failed; n++) {
        int64_t left = 0;
        for (int again = 0; again < 3; again++) {
            int64_t before = allocation_live();
            allocation_fail(n);
            collet_status status = body(b);
            failed = allocation_has_failed();
            allocation_fail(-1);
            testbed_require(b, failed || status == COLLET_OK,
                            "%s returned %s, but no allocation failed", slot,
                            collet_status_name(status));
            testbed_require(b, status == COLLET_OK || !expected || status == expected,
                            "%s returned %s when allocation %lld failed, not %s", slot,
                            collet_status_name(status), (long long)n, collet_status_name(expected));
            testbed_require(b, body(b) == COLLET_OK,
                            "%s fails after a call in which allocation %lld failed", slot,
                            (long long)n);
            left = allocation_live() - before;
        }
        testbed_require(
            b, left <= 0,
            "leak: %lld blocks stay allocated after %s with a failure of allocation %lld",
            (long long)left, slot, (long long)n);
    }
}

static collet_status open_once(testbed *b)
{
    collet_device *device = NULL;
    collet_status status = try_open(b, b->index, &device);
    b->device = device;
    if (status == COLLET_OK)
        testbed_close(b);
    b->device = NULL;
    return status;
}

static void open(testbed *b)
{
    each(b, "device_open", COLLET_NO_MEMORY, open_once);
}

static collet_status capabilities_once(testbed *b)
{
    slot_call s;
    uint64_t needed = 0;
    slot_begin(&s, b, "capabilities");
    return slot_end(&s,
                    b->plugin->capabilities(b->plugin, NULL, 0, &needed, &b->target->host, &s.err),
                    CONTRACT_OPEN);
}

static void capabilities(testbed *b)
{
    each(b, "capabilities", COLLET_NO_MEMORY, capabilities_once);
}

static collet_status alloc_once(testbed *b)
{
    void *buffer = NULL;
    collet_status status = try_alloc(b, 5000, &buffer);
    if (status == COLLET_OK)
        testbed_free(b, buffer);
    return status;
}

static void alloc(testbed *b)
{
    collet_memory_stats before = {.struct_size = sizeof before}, after = before;
    bool known = testbed_statistics(b, &before);
    each(b, "buffer_alloc", COLLET_REFUSED, alloc_once);
    if (known && testbed_statistics(b, &after))
        testbed_require(b, after.current <= before.current,
                        "memory_stats: a buffer_alloc that failed counts as memory in use");
}

static collet_status queue_once(testbed *b)
{
    collet_queue *q = NULL;
    collet_status status = try_queue(b, &q);
    if (status == COLLET_OK)
        testbed_destroy(b, q);
    return status;
}

static void queue(testbed *b)
{
    each(b, "queue_create", COLLET_NO_MEMORY, queue_once);
}

static void thread(testbed *b)
{
    need_allocations(b);
    testbed_require(b, queue_once(b) == COLLET_OK, "queue_create failed");
    int64_t before = allocation_live();
    thread_creation_fail(true);
    collet_status status = queue_once(b);
    thread_creation_fail(false);
    testbed_require(b, queue_once(b) == COLLET_OK,
                    "queue_create fails after a call in which pthread_create failed");
    testbed_require(b, allocation_live() <= before || status == COLLET_OK,
                    "leak: %lld blocks stay allocated after queue_create with a failure of "
                    "pthread_create",
                    (long long)(allocation_live() - before));
}

enum { N = 3000 };

/* In its own queue, because a late failure makes a queue fail permanently. */
static collet_status work_once(testbed *b)
{
    collet_queue *q = NULL;
    void *x = NULL, *one = NULL;
    double values[N] = {0};
    uint64_t bytes = (uint64_t)(N * b->size);
    collet_status status = try_queue(b, &q);
    if (status != COLLET_OK)
        return status;
    status = try_alloc(b, bytes, &x);
    if (status == COLLET_OK)
        status = try_alloc(b, bytes, &one);
    if (status == COLLET_OK)
        status = try_write(b, q, x, 0, values, bytes);
    if (status == COLLET_OK)
        status = try_write(b, q, one, 0, values, bytes);
    if (status == COLLET_OK && b->add >= 0) {
        testbed_operand add[3] = {testbed_vector(b, x, 0, N), testbed_vector(b, x, 0, N),
                                  testbed_vector(b, one, 0, N)};
        status = try_run(b, q, (uint32_t)b->add, add, 3, 1, NULL, NULL, 0);
    }
    if (status == COLLET_OK)
        status = try_after(b, q, q, testbed_mark(b, q));
    if (status == COLLET_OK)
        status = try_read(b, q, x, 0, values, bytes);
    for (int i = 0; status == COLLET_OK && i < N; i++)
        testbed_require(b, values[i] == 0,
                        "after a failed allocation the status is OK, but the result is wrong");
    collet_status end = try_wait(b, q, testbed_mark(b, q), -1);
    status = status == COLLET_OK ? end : status;
    testbed_destroy(b, q);
    if (b->own_memory) {
        testbed_free_all(b, x, one);
    } else {
        free(x);
        free(one);
    }
    return status;
}

static void work(testbed *b)
{
    each(b, "work in a queue", COLLET_OK, work_once);
}

static collet_status stamp_once(testbed *b)
{
    collet_queue *q = NULL;
    collet_stamp *stamp = NULL;
    collet_status status = try_queue(b, &q);
    if (status != COLLET_OK)
        return status;
    status = try_stamp(b, q, &stamp);
    testbed_settle(b, q);
    if (status == COLLET_OK) {
        (void)testbed_elapsed(b, stamp, stamp);
        testbed_release(b, stamp);
    }
    testbed_destroy(b, q);
    return status;
}

static void stamp(testbed *b)
{
    if (!testbed_timing(b))
        testbed_skip(b, "the device has no " COLLET_EXTENSION_TIMING);
    each(b, "a stamp in a queue", COLLET_OK, stamp_once);
}

const kit_verb verbs_short[] = {
    {"short.device_open", NEEDS_CLOSED, open},   {"short.capabilities", 0, capabilities},
    {"short.buffer_alloc", NEEDS_MEMORY, alloc}, {"short.queue_create", NEEDS_QUEUES, queue},
    {"short.thread", NEEDS_QUEUES, thread},      {"short.work", 0, work},
    {"short.stamp", NEEDS_QUEUES, stamp},        {0},
};
