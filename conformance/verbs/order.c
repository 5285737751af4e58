/* SPDX-License-Identifier: Apache-2.0 */
/* The order of writes, kernels and reads, in a queue and across queues.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>

static void kernels(testbed *b)
{
    testbed_slow(b);
    collet_queue *q = testbed_queue(b);
    void *one = testbed_numbers(b, q, 1, 1), *x = testbed_numbers(b, q, b->elements, 0);
    unsigned char bytes[2][16];
    testbed_chain(b, q, x, one, b->elements, CHAIN);
    testbed_read(b, q, x, (uint64_t)((b->elements - 2) * b->size), bytes[0], (uint64_t)b->size);
    testbed_expect(b, q, x, b->elements, CHAIN, "16 additions in a queue, then a read");
    testbed_read(b, q, x, 0, bytes[1], (uint64_t)b->size);
    testbed_require(b, !memcmp(bytes[0], bytes[1], (size_t)b->size),
                    "a read of a few bytes did not wait for the kernels before");
    testbed_free_all(b, one, x);
    testbed_destroy(b, q);
}

/* Writes and adds to a few numbers alternately, after slow work. */
static void small_writes(testbed *b)
{
    enum { N = 64, TURNS = 6 };
    collet_queue *q = testbed_queue(b);
    void *one = testbed_numbers(b, q, 1, 1), *x = testbed_numbers(b, q, b->elements, 0);
    void *values = testbed_numbers(b, q, N, 0), *sums[TURNS];
    for (int i = 0; i < TURNS; i++)
        sums[i] = testbed_numbers(b, q, N, 0);
    testbed_chain(b, q, x, one, b->elements, CHAIN);
    for (int i = 0; i < TURNS; i++) {
        double numbers[N];
        for (int k = 0; k < N; k++)
            if (b->size == 4)
                ((float *)(void *)numbers)[k] = (float)(10 * i);
            else
                numbers[k] = 10 * i;
        testbed_write(b, q, values, 0, numbers, (uint64_t)(N * b->size));
        testbed_operand add[3] = {testbed_vector(b, sums[i], 0, N), testbed_vector(b, values, 0, N),
                                  testbed_vector(b, one, 0, N)};
        add[2].strides[0] = 0;
        testbed_require(b, try_run(b, q, (uint32_t)b->add, add, 3, 1, NULL, NULL, 0) == COLLET_OK,
                        "run of add failed");
    }
    for (int i = 0; i < TURNS; i++) {
        testbed_expect(b, q, sums[i], N, 10 * i + 1, "a sum between two small writes");
        testbed_free(b, sums[i]);
    }
    testbed_free_all(b, values, one, x);
    testbed_destroy(b, q);
}

/* A write between two kernels must be done after the first kernel and before the second. */
static void writes(testbed *b)
{
    testbed_slow(b);
    small_writes(b);
    int64_t n = b->elements;
    collet_queue *q = testbed_queue(b);
    void *one = testbed_numbers(b, q, 1, 1), *x = testbed_numbers(b, q, n, 0);
    void *y = testbed_numbers(b, q, n, 0);
    void *values = kit_memory((size_t)(n * b->size));
    for (int64_t i = 0; i < n; i++)
        if (b->size == 4)
            ((float *)values)[i] = 100;
        else
            ((double *)values)[i] = 100;
    testbed_chain(b, q, x, one, n, CHAIN);
    uint64_t small = 64 * (uint64_t)b->size;
    testbed_write(b, q, x, 0, values, small);
    testbed_write(b, q, x, small, (char *)values + small, (uint64_t)(n * b->size) - small);
    testbed_operand add[3] = {testbed_vector(b, y, 0, n), testbed_vector(b, x, 0, n),
                              testbed_vector(b, one, 0, n)};
    add[2].strides[0] = 0;
    testbed_require(b, try_run(b, q, (uint32_t)b->add, add, 3, 1, NULL, NULL, 0) == COLLET_OK,
                    "run of add failed");
    memset(values, 0, (size_t)(n * b->size));
    testbed_write(b, q, x, 0, values, (uint64_t)(n * b->size));
    testbed_expect(b, q, y, n, 101, "a sum with numbers written before the kernel");
    testbed_expect(b, q, x, n, 0, "numbers written after the kernel");
    free(values);
    testbed_free_all(b, one, x, y);
    testbed_destroy(b, q);
}

static unsigned char pattern(uint64_t i, unsigned seed)
{
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
    return (unsigned char)(x >> 56);
}

static void fill_pattern(unsigned char *bytes, uint64_t at, uint64_t count, unsigned seed)
{
    for (uint64_t i = 0; i < count; i++)
        bytes[i] = pattern(at + i, seed);
}

static void expect_pattern(testbed *b, const unsigned char *bytes, uint64_t at, uint64_t count,
                           unsigned seed, const char *what)
{
    for (uint64_t i = 0; i < count; i++)
        testbed_require(b, bytes[i] == pattern(at + i, seed), "%s: byte %llu is wrong", what,
                        (unsigned long long)(at + i));
}

#define PIECES 700
#define PIECE 5000
#define BIG ((uint64_t)3 << 20)

/* Writes are enqueued behind slow work; then the memory that they read is overwritten. */
static void sources(testbed *b)
{
    testbed_slow(b);
    uint64_t small = (uint64_t)PIECES * PIECE, total = small + 4 * BIG;
    collet_queue *q = testbed_queue(b);
    void *one = testbed_numbers(b, q, 1, 1), *x = testbed_numbers(b, q, b->elements, 0);
    void *buffer = testbed_alloc(b, total);
    unsigned char *bytes = kit_memory(total);
    testbed_chain(b, q, x, one, b->elements, CHAIN);
    for (uint64_t at = 0, count = PIECE; at < total; at += count) {
        count = at < small ? PIECE : BIG;
        fill_pattern(bytes, at, count, 1);
        testbed_write(b, q, buffer, at, bytes, count);
    }
    testbed_read(b, q, buffer, 0, bytes, total);
    expect_pattern(b, bytes, 0, total, 1, "writes enqueued after slow kernels");
    testbed_expect(b, q, x, b->elements, CHAIN, "kernels before many writes");
    free(bytes);
    testbed_free_all(b, one, x, buffer);
    testbed_destroy(b, q);
}

/* Odd sizes and offsets; no other bytes are written. */
static void sizes(testbed *b)
{
    static const uint64_t counts[] = {1,
                                      2,
                                      3,
                                      7,
                                      63,
                                      64,
                                      65,
                                      255,
                                      256,
                                      4095,
                                      4096,
                                      4097,
                                      65536,
                                      65537,
                                      99999,
                                      1048577,
                                      (4u << 20) + 1,
                                      (9u << 20) + 13};
    uint64_t size = (9u << 20) + 100;
    collet_queue *q = testbed_queue(b);
    void *buffer = testbed_alloc(b, size);
    unsigned char *bytes = kit_memory(size), *back = kit_memory(size);
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        uint64_t count = counts[i], at = (i * 13) % 53, span = count + 87;
        memset(bytes, 0xee, span);
        testbed_write(b, q, buffer, 0, bytes, span);
        fill_pattern(bytes + at, at, count, i);
        testbed_write(b, q, buffer, at, bytes + at, count);
        memset(back, 0x55, span);
        testbed_read(b, q, buffer, at, back + at, count);
        expect_pattern(b, back + at, at, count, i, "a write and a read of the same bytes");
        for (uint64_t k = 0; k < span; k++)
            testbed_require(b, back[k] == 0x55 || (k >= at && k < at + count),
                            "buffer_read of %llu bytes wrote beyond them",
                            (unsigned long long)count);
        testbed_read(b, q, buffer, 0, back, span);
        testbed_require(b, !memcmp(back, bytes, span),
                        "buffer_write of %llu bytes at %llu changed others",
                        (unsigned long long)count, (unsigned long long)at);
    }
    free(bytes);
    free(back);
    testbed_free(b, buffer);
    testbed_destroy(b, q);
}

/* Two queues wait for each other in turn. */
static void after(testbed *b)
{
    testbed_slow(b);
    int64_t n = b->elements;
    collet_queue *q[2] = {0};
    if (testbed_queues(b, q, 2) < 2)
        q[1] = q[0];
    testbed_after(b, q[0], q[1], 0);
    testbed_after(b, q[0], q[1], testbed_mark(b, q[1]));
    void *one = testbed_numbers(b, q[0], 1, 1), *x = testbed_numbers(b, q[0], n, 0);
    for (int i = 0; i < 6; i++) {
        collet_queue *from = q[i % 2], *to = q[1 - i % 2];
        testbed_chain(b, from, x, one, n, CHAIN / 4);
        testbed_after(b, to, from, testbed_mark(b, from));
    }
    testbed_expect(b, q[0], x, n, 6 * (CHAIN / 4), "additions in two queues, each after the other");
    for (int i = 0; i < 200; i++) {
        collet_queue *from = q[i % 2], *to = q[1 - i % 2];
        testbed_chain(b, from, x, one, 64, 1);
        testbed_after(b, to, from, testbed_mark(b, from));
    }
    testbed_expect(b, q[0], x, 64, 200 + 6 * (CHAIN / 4), "200 small additions in two queues");
    testbed_settle(b, q[1]);
    testbed_free_all(b, one, x);
    for (int i = 0; i < 1 + (q[0] != q[1]); i++)
        testbed_destroy(b, q[i]);
}

/* A queue waits for two other queues. The write and the read of this queue must wait, too. */
static void after_two(testbed *b)
{
    testbed_slow(b);
    int64_t n = b->elements;
    collet_queue *q[3] = {0};
    int count = testbed_queues(b, q, 3);
    collet_queue *last = q[count - 1], *middle = q[count > 1];
    void *one = testbed_numbers(b, q[0], 1, 1);
    testbed_settle(b, q[0]);
    void *x = testbed_numbers(b, q[0], n, 0), *y = testbed_numbers(b, middle, n, 5);
    testbed_chain(b, q[0], x, one, n, CHAIN);
    testbed_chain(b, middle, y, one, n, CHAIN / 2);
    testbed_after(b, last, q[0], testbed_mark(b, q[0]));
    testbed_after(b, last, middle, testbed_mark(b, middle));
    unsigned char zeros[64] = {0};
    testbed_write(b, last, y, 0, zeros, sizeof zeros);
    testbed_expect(b, last, x, n, CHAIN, "a read in a queue that waits for another");
    unsigned char back[64];
    testbed_read(b, last, y, 0, back, sizeof back);
    testbed_require(b, !memcmp(back, zeros, sizeof back),
                    "a write in a queue that waits for another was done before the other's work");
    for (int i = 0; i < count; i++)
        testbed_settle(b, q[i]);
    testbed_free_all(b, one, x, y);
    for (int i = 0; i < count; i++)
        testbed_destroy(b, q[i]);
}

#define FANS 5

/* A busy queue waits for several others, each in turn; one of them takes long. */
static void after_each(testbed *b)
{
    collet_queue *q[FANS];
    testbed_need_queues(b, 3);
    testbed_slow(b);
    int64_t n = b->elements;
    int count = testbed_queues(b, q, FANS), others = count - 1;
    collet_queue *last = q[others];
    void *one = testbed_numbers(b, last, 1, 1), *x = testbed_numbers(b, last, n, 0);
    void *busy = testbed_numbers(b, last, n, 0);
    testbed_settle(b, last);
    for (int slow = 0; slow < others; slow++) {
        testbed_chain(b, last, busy, one, n, 2);
        testbed_chain(b, q[slow], x, one, n, CHAIN / 2);
        for (int i = 0; i < others; i++)
            testbed_after(b, last, q[i], testbed_mark(b, q[i]));
        testbed_chain(b, last, x, one, n, 1);
        testbed_expect(b, last, x, n, (slow + 1) * (CHAIN / 2 + 1),
                       "work in a queue at work that waits for several others");
    }
    for (int i = 0; i < count; i++)
        testbed_settle(b, q[i]);
    testbed_free_all(b, one, x, busy);
    for (int i = 0; i < count; i++)
        testbed_destroy(b, q[i]);
}

/* A queue waits for a queue that has no kernels, only a wait, or a wait and a write. */
static void after_write(testbed *b)
{
    testbed_need_queues(b, 3);
    testbed_slow(b);
    int64_t n = b->elements;
    collet_queue *q = testbed_queue(b), *middle = testbed_queue(b), *last = testbed_queue(b);
    void *one = testbed_numbers(b, q, 1, 1), *x = testbed_numbers(b, q, n, 0);
    void *y = testbed_numbers(b, q, n, 0), *twenty = testbed_numbers(b, q, n, 20);
    unsigned char *bytes = kit_memory((size_t)(n * b->size));
    testbed_read(b, q, twenty, 0, bytes, (uint64_t)(n * b->size));
    testbed_chain(b, q, x, one, n, CHAIN / 2);
    testbed_after(b, middle, q, testbed_mark(b, q));
    testbed_after(b, last, middle, testbed_mark(b, middle));
    testbed_chain(b, last, x, one, n, 1);
    testbed_expect(b, last, x, n, CHAIN / 2 + 1,
                   "work in a queue that waits for one that only waits for another");
    testbed_chain(b, q, x, one, n, CHAIN / 2);
    testbed_after(b, middle, q, testbed_mark(b, q));
    if (b->own_memory)
        testbed_write(b, middle, y, 0, bytes, (uint64_t)(n * b->size));
    testbed_after(b, last, middle, testbed_mark(b, middle));
    testbed_chain(b, last, y, one, n, 1);
    testbed_expect(b, last, y, n, b->own_memory ? 21 : 1,
                   "work in a queue that waits for a write in another");
    testbed_settle(b, q);
    testbed_settle(b, middle);
    free(bytes);
    testbed_free_all(b, one, x, y, twenty);
    testbed_destroy(b, q);
    testbed_destroy(b, middle);
    testbed_destroy(b, last);
}

const kit_verb verbs_order[] = {
    {"order.kernels", NEEDS_ADD, kernels},
    {"order.writes", NEEDS_ADD, writes},
    {"order.sources", NEEDS_ADD | NEEDS_MEMORY, sources},
    {"order.sizes", NEEDS_MEMORY, sizes},
    {"order.after", NEEDS_ADD | NEEDS_QUEUES, after},
    {"order.after_two", NEEDS_ADD | NEEDS_QUEUES, after_two},
    {"order.after_each", NEEDS_ADD | NEEDS_QUEUES, after_each},
    {"order.after_write", NEEDS_ADD | NEEDS_QUEUES, after_write},
    {0},
};
