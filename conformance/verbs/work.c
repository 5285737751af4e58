/* SPDX-License-Identifier: Apache-2.0 */
/* Work for devices: numbers that kernels add up, slow chains of them, threads.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

testbed_operand testbed_vector(const testbed *b, void *buffer, int64_t at, int64_t n)
{
    return (testbed_operand){.buffer = buffer,
                             .offset = (uint64_t)(at * b->size),
                             .dtype = b->dtype,
                             .ndim = 1,
                             .shape = {n},
                             .strides = {1}};
}

static void put(const testbed *b, void *values, int64_t i, double value)
{
    if (b->dtype == COLLET_F32)
        ((float *)values)[i] = (float)value;
    else
        ((double *)values)[i] = value;
}

static double get(const testbed *b, const void *values, int64_t i)
{
    return b->dtype == COLLET_F32 ? (double)((const float *)values)[i]
                                  : ((const double *)values)[i];
}

void *testbed_numbers(testbed *b, collet_queue *q, int64_t n, double value)
{
    void *buffer = testbed_alloc(b, (uint64_t)(n * b->size));
    void *values = kit_memory((size_t)(n * b->size));
    for (int64_t i = 0; i < n; i++)
        put(b, values, i, value);
    testbed_write(b, q, buffer, 0, values, (uint64_t)(n * b->size));
    free(values);
    return buffer;
}

void testbed_chain(testbed *b, collet_queue *q, void *x, void *one, int64_t n, int count)
{
    testbed_operand operands[3] = {testbed_vector(b, x, 0, n), testbed_vector(b, x, 0, n),
                                   testbed_vector(b, one, 0, n)};
    operands[2].strides[0] = 0;
    for (int i = 0; i < count; i++) {
        collet_status status = try_run(b, q, (uint32_t)b->add, operands, 3, 1, NULL, NULL, 0);
        testbed_require(b, status == COLLET_OK, "run of add returned %s",
                        collet_status_name(status));
    }
}

void testbed_expect(testbed *b, collet_queue *q, void *buffer, int64_t n, double value,
                    const char *what)
{
    void *values = kit_memory((size_t)(n * b->size));
    memset(values, 0xff, (size_t)(n * b->size));
    testbed_read(b, q, buffer, 0, values, (uint64_t)(n * b->size));
    int64_t i = 0;
    while (i < n && get(b, values, i) == value)
        i++;
    double found = i < n ? get(b, values, i) : value;
    free(values);
    testbed_require(b, i == n, "%s: element %lld of %lld is %g, not %g", what, (long long)i,
                    (long long)n, found, value);
}

#define GUARD 4096 /* bytes behind a workspace */

void *testbed_scratch(testbed *b, collet_queue *q, uint64_t bytes)
{
    unsigned char *garbage = kit_memory((size_t)bytes + GUARD);
    void *scratch = testbed_alloc(b, bytes + GUARD);
    memset(garbage, 0xfb, (size_t)bytes + GUARD);
    testbed_write(b, q, scratch, 0, garbage, bytes + GUARD);
    free(garbage);
    return scratch;
}

void testbed_scratch_check(testbed *b, collet_queue *q, void *scratch, uint64_t bytes,
                           const kit_row *row)
{
    unsigned char guard[GUARD];
    testbed_read(b, q, scratch, bytes, guard, GUARD);
    for (int i = 0; i < GUARD; i++)
        testbed_require(b, guard[i] == 0xfb,
                        "%s %s wrote %d bytes beyond its workspace of %llu bytes, the size that it "
                        "requested",
                        row->info.name, row->sig, i, (unsigned long long)bytes);
    testbed_free(b, scratch);
}

#define SLOW_NS 120000000
#define SLOW_MOST (1 << 25)
#define CHAIN_MOST (64 * CHAIN)

void testbed_slow(testbed *b)
{
    if (b->target->elements && b->target->measured == b->index) {
        b->elements = b->target->elements;
        b->chain = b->target->chain;
        return;
    }
    collet_queue *q = testbed_queue(b);
    void *one = testbed_numbers(b, q, 1, 1);
    int64_t took = SLOW_NS;
    b->elements = 1 << 14;
    for (bool enough = !b->has_queues; !enough; b->elements *= enough ? 1 : 4) {
        void *x = testbed_numbers(b, q, b->elements, 0);
        testbed_chain(b, q, x, one, b->elements, 1); /* compiles */
        testbed_settle(b, q);
        int64_t start = testbed_now();
        testbed_chain(b, q, x, one, b->elements, CHAIN);
        testbed_settle(b, q);
        took = testbed_now() - start;
        enough = took > SLOW_NS || b->elements * 4 > SLOW_MOST;
        testbed_free(b, x);
    }
    testbed_free(b, one);
    testbed_destroy(b, q);
    int64_t longer = took < SLOW_NS ? CHAIN * (SLOW_NS / (took + 1)) : CHAIN;
    b->chain = longer < CHAIN_MOST ? (int)longer : CHAIN_MOST;
    b->target->elements = b->elements;
    b->target->chain = b->chain;
    b->target->measured = b->index;
}

/* ---- Threads ------------------------------------------------------------------------------- */

typedef struct thread_call {
    testbed *b;
    int number;
    void (*body)(testbed *b, int number, void *user);
    void *user;
} thread_call;

static void *thread_main(void *argument)
{
    thread_call *call = argument;
    call->body(call->b, call->number, call->user);
    return NULL;
}

#define MOST_THREADS 16

void testbed_threads(testbed *b, int count, void (*body)(testbed *b, int number, void *user),
                     void *user)
{
    pthread_t threads[MOST_THREADS];
    thread_call calls[MOST_THREADS];
    int started = 0;
    for (; started < count && started < MOST_THREADS; started++) {
        calls[started] = (thread_call){b, started, body, user};
        if (pthread_create(&threads[started], NULL, thread_main, &calls[started]) != 0)
            break;
    }
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    testbed_check(b);
    if (started < count)
        testbed_skip(b, "backend-check cannot start %d threads", count);
}

void testbed_need_queues(testbed *b, uint32_t count)
{
    if (b->max_queues < count)
        testbed_skip(b, "the device supports fewer than %u queues", count);
}

int testbed_queues(testbed *b, collet_queue **queues, int count)
{
    count = (uint32_t)count < b->max_queues ? count : (int)b->max_queues;
    for (int i = 0; i < count; i++)
        queues[i] = testbed_queue(b);
    return count;
}

/* ---- Some of everything -------------------------------------------------------------------- */

static void scenario_work(testbed *b, collet_queue *first, collet_queue *second)
{
    enum { N = 1000 };
    void *one = testbed_numbers(b, first, 1, 1), *x = testbed_numbers(b, first, N, 3);
    testbed_chain(b, first, x, one, N, 3);
    testbed_after(b, second, first, testbed_mark(b, first));
    testbed_chain(b, second, x, one, N, 2);
    (void)try_wait(b, second, testbed_mark(b, second), 0);
    (void)try_wait(b, second, testbed_mark(b, second), 1000000);
    testbed_after(b, first, second, testbed_mark(b, second));
    testbed_expect(b, first, x, N, 8, "add");
    testbed_settle(b, first);
    testbed_settle(b, second);
    testbed_free_all(b, x, one);
}

static void scenario_time(testbed *b, collet_queue *q)
{
    collet_stamp *first = NULL, *last = NULL;
    if (!testbed_timing(b) || try_stamp(b, q, &first) != COLLET_OK)
        return;
    if (try_stamp(b, q, &last) == COLLET_OK) {
        testbed_settle(b, q);
        testbed_require(b, testbed_elapsed(b, first, last) >= 0,
                        "a negative time between two stamps");
    }
    testbed_settle(b, q);
    testbed_release(b, first);
    testbed_release(b, last);
}

void testbed_scenario(testbed *b)
{
    collet_queue *queues[2] = {0};
    unsigned char bytes[777], back[sizeof bytes];
    collet_memory_stats stats = {.struct_size = sizeof stats};
    int count = testbed_queues(b, queues, 2);
    void *buffer = testbed_alloc(b, sizeof bytes);
    memset(bytes, 0x3c, sizeof bytes);
    testbed_write(b, queues[0], buffer, 0, bytes, sizeof bytes);
    testbed_read(b, queues[0], buffer, 0, back, sizeof back);
    testbed_require(b, !memcmp(bytes, back, sizeof bytes),
                    "the bytes that were read differ from those written");
    if (b->add >= 0)
        scenario_work(b, queues[0], queues[count - 1]);
    scenario_time(b, queues[0]);
    testbed_statistics(b, &stats);
    testbed_settle(b, queues[0]);
    testbed_free(b, buffer);
    for (int i = 0; i < count; i++)
        testbed_destroy(b, queues[i]);
}
