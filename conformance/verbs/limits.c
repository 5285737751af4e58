/* SPDX-License-Identifier: Apache-2.0 */
/* Large sizes, counts and durations, on both sides of the limits at which a plugin may behave
 * differently.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Buffers for slow work and for small work after it. `reader` is the queue that wrote them. */
typedef struct depth {
    collet_queue *reader;
    void *one, *x, *y;
    double slow, small; /* number of additions so far */
} depth;

#define SECOND 1000000000
#define SMALL 16
#define AHEAD 4 /* slow additions before the small additions */

static depth depth_begin(testbed *b)
{
    testbed_slow(b);
    depth d = {.reader = testbed_queue(b)};
    d.one = testbed_numbers(b, d.reader, 1, 1);
    d.x = testbed_numbers(b, d.reader, b->elements, 0);
    d.y = testbed_numbers(b, d.reader, SMALL, 0);
    testbed_settle(b, d.reader);
    return d;
}

static void depth_end(testbed *b, depth *d)
{
    testbed_settle(b, d->reader);
    testbed_free_all(b, d->one, d->x, d->y);
    testbed_destroy(b, d->reader);
}

/* A queue with slow work and `count` small additions, all pending if it has room for them. */
static collet_queue *deep_queue(testbed *b, depth *d, int count)
{
    collet_queue *q = testbed_queue(b);
    testbed_chain(b, q, d->x, d->one, b->elements, AHEAD);
    testbed_chain(b, q, d->y, d->one, SMALL, count);
    d->slow += AHEAD;
    d->small += count;
    return q;
}

/* Reads, waits, other queues and queue_destroy must wait for any number of pending calls. The
 * numbers here are just below powers of two, the likely sizes of ring buffers. */
static void pending(testbed *b)
{
    testbed_need_queues(b, 3);
    depth d = depth_begin(b);
    int64_t start = testbed_now();
    for (int ring = 16; ring <= 512 || (ring <= 4096 && testbed_now() - start < 2 * SECOND);
         ring *= 2) {
        int count = ring - AHEAD - 6;
        collet_queue *q = deep_queue(b, &d, count);
        testbed_expect(b, q, d.y, SMALL, d.small, "a read after many pending calls");
        testbed_destroy(b, q);
        q = deep_queue(b, &d, count);
        testbed_after(b, d.reader, q, testbed_mark(b, q));
        testbed_chain(b, d.reader, d.y, d.one, SMALL, 1);
        d.small++;
        testbed_expect(b, d.reader, d.y, SMALL, d.small,
                       "work in a queue that waits for many pending calls of another");
        testbed_chain(b, q, d.x, d.one, b->elements, AHEAD);
        testbed_chain(b, q, d.y, d.one, SMALL, count);
        d.slow += AHEAD;
        d.small += count;
        testbed_destroy(b, q);
        testbed_expect(b, d.reader, d.y, SMALL, d.small,
                       "many calls that were pending when queue_destroy was called");
    }
    testbed_expect(b, d.reader, d.x, b->elements, d.slow, "slow work before many pending calls");
    depth_end(b, &d);
}

#define MANY 40

/* Many queues wait for a queue with many pending calls; then each queue waits for the previous queue.
 * */
static void queues(testbed *b)
{
    collet_queue *q[MANY] = {0};
    int count = testbed_queues(b, q, MANY);
    if (count < 2)
        testbed_skip(b, "the device has one queue");
    testbed_slow(b);
    void *one = testbed_numbers(b, q[0], 1, 1), *x = testbed_numbers(b, q[0], b->elements, 0);
    void *y[MANY];
    for (int i = 0; i < count; i++)
        y[i] = testbed_numbers(b, q[0], SMALL, 0);
    testbed_chain(b, q[0], x, one, b->elements, AHEAD);
    for (int i = 0; i < count; i++)
        testbed_chain(b, q[0], y[i], one, SMALL, 4);
    for (int i = 1; i < count; i++) {
        testbed_after(b, q[i], q[0], testbed_mark(b, q[0]));
        testbed_chain(b, q[i], y[i], one, SMALL, 1);
    }
    for (int i = 1; i < count; i++)
        testbed_expect(b, q[i], y[i], SMALL, 5, "work in many queues that wait for one");
    testbed_chain(b, q[0], x, one, b->elements, AHEAD);
    testbed_chain(b, q[0], y[0], one, SMALL, 1);
    for (int i = 1; i < count; i++) {
        testbed_after(b, q[i], q[i - 1], testbed_mark(b, q[i - 1]));
        testbed_chain(b, q[i], y[0], one, SMALL, 1);
    }
    testbed_expect(b, q[count - 1], y[0], SMALL, 4 + count,
                   "work in many queues, where each queue waits for the previous one");
    /* The work of every queue reads `one`, so all must end before it is freed. */
    for (int i = 0; i < count; i++)
        testbed_settle(b, q[i]);
    testbed_free_all(b, one, x);
    for (int i = 0; i < count; i++) {
        testbed_free(b, y[i]);
        testbed_destroy(b, q[i]);
    }
}

static uint64_t word(uint64_t at, uint64_t seed)
{
    return (at + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1342543de82ef95u;
}

#define ALIGNED 4096
#define LEAST ((uint64_t)9 << 20) /* bytes written behind slow work */

/* Writes of `size` bytes in a new queue behind slow work. All writes read the same place, which is overwritten after
 * each write. */
static void write_behind(testbed *b, depth *d, uint64_t size, unsigned shift)
{
    uint64_t total = (LEAST + size - 1) / size * size;
    unsigned char *memory = aligned_alloc(ALIGNED, (size_t)(size + 2 * ALIGNED) & -(size_t)ALIGNED);
    uint64_t *back = kit_memory(total);
    void *buffer = testbed_alloc(b, total);
    testbed_require(b, memory, "backend-check has no memory");
    unsigned char *source = memory + shift;
    collet_queue *q = testbed_queue(b);
    testbed_chain(b, q, d->x, d->one, b->elements, AHEAD);
    d->slow += AHEAD;
    for (uint64_t at = 0; at < total; at += size) {
        for (uint64_t i = 0; i < size; i += sizeof(uint64_t)) {
            uint64_t value = word(at + i, size);
            memcpy(source + i, &value, sizeof value);
        }
        testbed_require(b, try_write(b, q, buffer, at, source, size) == COLLET_OK,
                        "a write of %" PRIu64 " bytes failed", size);
        memset(source, KEPT, size);
    }
    testbed_read(b, q, buffer, 0, back, total);
    for (uint64_t i = 0; i < total / sizeof *back; i++)
        testbed_require(b, back[i] == word(i * sizeof *back, size),
                        "writes of %" PRIu64 " bytes after slow work, whose source was overwritten "
                        "when buffer_write had returned: byte %" PRIu64 " is wrong",
                        size, (uint64_t)(i * sizeof *back));
    free(back);
    free(memory);
    testbed_free(b, buffer);
    testbed_destroy(b, q);
}

static void writes(testbed *b)
{
    static const uint64_t sizes[] = {20000,   1 << 16,       1 << 18, 1 << 20,
                                     3 << 20, (4 << 20) + 8, 1 << 24, (1 << 25) + 4096};
    testbed_need_queues(b, 2);
    depth d = depth_begin(b);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        write_behind(b, &d, sizes[i], i % 2 ? 0 : 24);
    testbed_expect(b, d.reader, d.x, b->elements, d.slow, "slow work before large writes");
    depth_end(b, &d);
}

/* Work takes more than a second. A wait with a limit of one second, a wait by another queue, and queue_destroy wait
 * for this work. */
static void seconds(testbed *b)
{
    testbed_need_queues(b, 3);
    depth d = depth_begin(b);
    collet_queue *q = testbed_queue(b), *after = testbed_queue(b);
    int64_t start = testbed_now();
    testbed_chain(b, q, d.x, d.one, b->elements, CHAIN);
    testbed_settle(b, q);
    int64_t took = testbed_now() - start + 1;
    int count = (int)((int64_t)CHAIN * 3 * SECOND / 2 / took) + 1;
    testbed_chain(b, q, d.x, d.one, b->elements, count);
    uint64_t mark = testbed_mark(b, q);
    testbed_after(b, after, q, mark);
    testbed_operand add[3] = {testbed_vector(b, d.y, 0, SMALL), testbed_vector(b, d.y, 0, SMALL),
                              testbed_vector(b, d.x, b->elements - SMALL, SMALL)};
    testbed_require(b, try_run(b, after, (uint32_t)b->add, add, 3, 1, NULL, NULL, 0) == COLLET_OK,
                    "run of add failed");
    if (testbed_poll(b, q, mark, SECOND) == COLLET_OK)
        testbed_expect(b, d.reader, d.x, b->elements, CHAIN + count,
                       "results of work that queue_wait with a limit of a second reported as done");
    testbed_destroy(b, q);
    testbed_expect(b, d.reader, d.x, b->elements, CHAIN + count,
                   "work of more than a second that was pending when queue_destroy was called");
    testbed_expect(b, after, d.y, SMALL, CHAIN + count,
                   "work in a queue that waits for work of more than a second");
    testbed_destroy(b, after);
    depth_end(b, &d);
}

#define MOST_SUMS (1 << 19)

/* Sums two rows of 1, 2, 4, ... numbers, with exactly the workspace that was requested. */
static void workspace(testbed *b)
{
    int32_t row = testbed_row(b, COLLET_OP_SUM, COLLET_SIG(b->dtype, b->dtype));
    if (row < 0 || !row_asks(b, (uint32_t)row))
        testbed_skip(b, "the device has no kernel sum that may request a workspace");
    kit_row described = {.info = {.name = "sum"}};
    collet_reduce_params params = {.struct_size = sizeof params, .axes = 1};
    collet_queue *q = testbed_queue(b);
    void *in = testbed_numbers(b, q, 2 * MOST_SUMS, 3), *out = testbed_numbers(b, q, MOST_SUMS, 0);
    for (int64_t n = 1; n <= MOST_SUMS; n *= 2) {
        uint64_t bytes = 0;
        testbed_operand sum[2] = {testbed_vector(b, out, 0, n), testbed_vector(b, in, 0, 2)};
        sum[1].ndim = 2;
        sum[1].shape[1] = n;
        sum[1].strides[0] = n;
        sum[1].strides[1] = 1;
        if (try_accepts(b, (uint32_t)row, sum, 2, 1, &params, &bytes) != COLLET_OK)
            continue;
        void *scratch = bytes ? testbed_scratch(b, q, bytes) : NULL;
        testbed_require(
            b, try_run(b, q, (uint32_t)row, sum, 2, 1, &params, scratch, bytes) == COLLET_OK,
            "run of sum failed");
        testbed_expect(b, q, out, n, 6, "sums with the workspace that was requested");
        testbed_settle(b, q);
        if (scratch)
            testbed_scratch_check(b, q, scratch, bytes, &described);
    }
    testbed_free_all(b, in, out);
    testbed_destroy(b, q);
}

const kit_verb verbs_limits[] = {
    {"limits.pending", NEEDS_ADD | NEEDS_QUEUES, pending},
    {"limits.queues", NEEDS_ADD | NEEDS_QUEUES, queues},
    {"limits.writes", NEEDS_ADD | NEEDS_QUEUES | NEEDS_MEMORY, writes},
    {"limits.seconds", NEEDS_ADD | NEEDS_QUEUES, seconds},
    {"limits.workspace", NEEDS_ADD, workspace},
    {0},
};
