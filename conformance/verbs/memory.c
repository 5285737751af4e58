/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that buffers do not overlap; limits of memory; statistics.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUFFERS 40

static uint64_t bytes_of(int i)
{
    static const uint64_t sizes[] = {1, 3, 64, 255, 256, 257, 4096, 10000, 65536, 1000003};
    return sizes[i % 10];
}

static void put(testbed *b, collet_queue *q, void *buffer, int i)
{
    unsigned char *bytes = kit_memory(bytes_of(i));
    memset(bytes, 1 + i, bytes_of(i));
    testbed_write(b, q, buffer, 0, bytes, bytes_of(i));
    free(bytes);
}

static void expect(testbed *b, collet_queue *q, void *buffer, int i)
{
    unsigned char *bytes = kit_memory(bytes_of(i));
    testbed_read(b, q, buffer, 0, bytes, bytes_of(i));
    for (uint64_t k = 0; k < bytes_of(i); k++)
        testbed_require(b, bytes[k] == 1 + i,
                        "byte %" PRIu64 " of a buffer of %" PRIu64
                        " changed when other buffers were written or freed",
                        k, bytes_of(i));
    free(bytes);
}

/* Buffers keep their bytes while other buffers are allocated, written and freed. */
static void apart(testbed *b)
{
    collet_queue *q = testbed_queue(b);
    void *buffers[BUFFERS];
    for (int i = 0; i < BUFFERS; i++)
        put(b, q, buffers[i] = testbed_alloc(b, bytes_of(i)), i);
    testbed_settle(b, q);
    for (int round = 0; round < 3; round++) {
        for (int i = round % 2; i < BUFFERS; i += 2)
            testbed_free(b, buffers[i]);
        for (int i = round % 2; i < BUFFERS; i += 2)
            put(b, q, buffers[i] = testbed_alloc(b, bytes_of(i)), i);
        for (int i = 0; i < BUFFERS; i++)
            expect(b, q, buffers[i], i);
    }
    for (int i = 0; i < BUFFERS; i++)
        testbed_free(b, buffers[i]);
    testbed_destroy(b, q);
}

/* A buffer is freed and another allocated while unrelated work is under way. */
static void reused(testbed *b)
{
    testbed_slow(b);
    int64_t n = b->elements;
    collet_queue *q[2] = {0};
    int count = testbed_queues(b, q, 2);
    void *one = testbed_numbers(b, q[0], 1, 1), *x = testbed_numbers(b, q[0], n, 0);
    testbed_settle(b, q[0]);
    for (int i = 0; i < 4; i++) {
        void *y = testbed_numbers(b, q[count - 1], n, 50);
        testbed_settle(b, q[count - 1]);
        testbed_chain(b, q[0], x, one, n, CHAIN / 2);
        testbed_free(b, y);
        y = testbed_numbers(b, q[count - 1], n, 60 + i);
        testbed_chain(b, q[count - 1], y, one, n, 2);
        testbed_expect(b, q[count - 1], y, n, 62 + i,
                       "a buffer in the place of one that was freed");
        testbed_free(b, y);
    }
    testbed_expect(b, q[0], x, n, 4 * (CHAIN / 2), "work while other buffers were freed");
    testbed_free_all(b, x, one);
    for (int i = 0; i < count; i++)
        testbed_destroy(b, q[i]);
}

static void huge(testbed *b)
{
    static const uint64_t sizes[] = {(uint64_t)1 << 48, (uint64_t)1 << 62, (uint64_t)1 << 63,
                                     UINT64_MAX - 4096, UINT64_MAX - 255,  UINT64_MAX};
    if (!allocation_watched())
        testbed_skip(b, "this backend-check was built with a sanitizer, which prints such sizes");
    collet_queue *q = testbed_queue(b);
    void *before = testbed_alloc(b, 1000);
    collet_memory_stats first = {.struct_size = sizeof first}, last = first;
    bool known = testbed_statistics(b, &first);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *buffer = NULL;
        collet_status status = try_alloc(b, sizes[i], &buffer);
        testbed_require(b, status == COLLET_REFUSED,
                        "buffer_alloc of %" PRIu64 " bytes returned %s, not REFUSED", sizes[i],
                        collet_status_name(status));
    }
    if (known && testbed_statistics(b, &last))
        testbed_require(b, last.current == first.current && last.peak == first.peak,
                        "memory_stats: buffer_alloc that was refused changed current from %" PRIu64
                        " to %" PRIu64 " or the peak from %" PRIu64 " to %" PRIu64,
                        first.current, last.current, first.peak, last.peak);
    put(b, q, before, 0);
    expect(b, q, before, 0);
    testbed_free(b, before);
    testbed_destroy(b, q);
}

#define LIMIT ((uint64_t)48 << 20)
#define SHARE ((uint64_t)10 << 20)

/* A device with little memory, if the plugin has the setting NAME.memory. */
static void limit(testbed *b)
{
    void *buffers[16] = {0};
    int count = 0;
    collet_status status = COLLET_OK;
    if (!target_set(b->target, "memory", "50331648"))
        testbed_skip(b, "the plugin has no setting %s.memory", b->plugin->name);
    testbed_open(b);
    collet_queue *q = testbed_queue(b);
    testbed_scenario(b);
    for (; count < 16 && status == COLLET_OK; count += status == COLLET_OK) {
        status = try_alloc(b, SHARE, &buffers[count]);
        if (status == COLLET_OK)
            put(b, q, buffers[count], 9);
    }
    testbed_require(b, status == COLLET_REFUSED && count >= 1 && (uint64_t)count * SHARE <= LIMIT,
                    "in a memory of 48 MiB %d buffers of 10 MiB were allocated before buffer_alloc "
                    "returned %s",
                    count, collet_status_name(status));
    for (int i = 0; i < 3; i++) {
        testbed_settle(b, q);
        testbed_free(b, buffers[i % count]);
        buffers[i % count] = testbed_alloc(b, SHARE);
        put(b, q, buffers[i % count], 9);
        void *more = NULL;
        testbed_require(b, try_alloc(b, SHARE, &more) == COLLET_REFUSED,
                        "more memory was allocated than the device has");
    }
    for (int i = 0; i < count; i++) {
        expect(b, q, buffers[i], 9);
        testbed_free(b, buffers[i]);
    }
    testbed_destroy(b, q);
    testbed_scenario(b);
}

/* Statistics in a struct of `size` bytes, followed by bytes that must not change. */
static collet_memory_stats statistics_of(testbed *b, uint32_t size)
{
    union {
        collet_memory_stats stats;
        unsigned char bytes[sizeof(collet_memory_stats) + 64];
    } padded;
    collet_memory_stats stats = {0};
    char text[CONTRACT_TEXT];
    memset(padded.bytes, 0xc3, sizeof padded.bytes);
    memset(padded.bytes, 0, size);
    padded.stats.struct_size = size;
    if (!testbed_statistics(b, &padded.stats))
        testbed_skip(b, "the device reports no memory");
    for (size_t i = size; i < sizeof padded.bytes; i++)
        testbed_require(b, padded.bytes[i] == 0xc3,
                        "memory_stats of a struct of %u bytes wrote byte %zu", size, i);
    testbed_require(b, !contract_stats(&padded.stats, size, text), "memory_stats: %s", text);
    memcpy(&stats, padded.bytes, size < sizeof stats ? size : sizeof stats);
    return stats;
}

static collet_memory_stats statistics_now(testbed *b)
{
    return statistics_of(b, sizeof(collet_memory_stats));
}

#define PART ((uint64_t)8 << 20)

static bool is_about(uint64_t found, uint64_t expected)
{
    return found >= expected && found <= expected + PART / 8;
}

static void statistics(testbed *b)
{
    collet_queue *q = testbed_queue(b);
    void *buffers[4];
    (void)statistics_of(b, sizeof(collet_memory_stats) + 8);
    collet_memory_stats first = statistics_now(b);
    uint64_t before = first.current;
    for (uint64_t i = 0; i < 4; i++) {
        buffers[i] = testbed_alloc(b, PART);
        collet_memory_stats s = statistics_now(b);
        testbed_require(b, s.total == first.total,
                        "memory_stats: total went from %" PRIu64 " to %" PRIu64, first.total,
                        s.total);
        testbed_require(b, is_about(s.current, before + (i + 1) * PART),
                        "memory_stats: current went from %" PRIu64 " to %" PRIu64 " when %" PRIu64
                        " bytes were allocated",
                        before, s.current, (i + 1) * PART);
    }
    put(b, q, buffers[0], 9);
    testbed_settle(b, q);
    uint64_t most = statistics_now(b).peak;
    testbed_require(b, most >= before + 4 * PART,
                    "memory_stats: the peak is %" PRIu64 " after %" PRIu64 " bytes were in use",
                    most, before + 4 * PART);
    for (int i = 0; i < 4; i++)
        testbed_free(b, buffers[i]);
    collet_memory_stats s = statistics_now(b);
    testbed_require(b, s.current <= before + PART / 8,
                    "memory_stats: current is %" PRIu64 " when all is freed, and was %" PRIu64,
                    s.current, before);
    testbed_require(b, s.peak >= most, "memory_stats: the peak fell from %" PRIu64 " to %" PRIu64,
                    most, s.peak);
    testbed_reset_peak(b);
    s = statistics_now(b);
    testbed_require(b, s.peak <= before + PART / 8,
                    "memory_stats: the peak is %" PRIu64 " after it was reset, current %" PRIu64,
                    s.peak, s.current);
    testbed_destroy(b, q);
}

/* The peak must be right without a call of memory_stats between allocations, and after a reset
 * while buffers are allocated. */
static void peak(testbed *b)
{
    void *buffers[4];
    uint64_t before = statistics_now(b).current;
    testbed_reset_peak(b);
    for (int i = 0; i < 4; i++)
        buffers[i] = testbed_alloc(b, PART);
    for (int i = 2; i < 4; i++)
        testbed_free(b, buffers[i]);
    uint64_t most = statistics_now(b).peak;
    testbed_require(b, is_about(most, before + 4 * PART),
                    "memory_stats: the peak is %" PRIu64 " after four buffers of %" PRIu64
                    " over %" PRIu64,
                    most, PART, before);
    testbed_reset_peak(b);
    collet_memory_stats s = statistics_now(b);
    testbed_require(b, s.peak == s.current,
                    "memory_stats: the peak is %" PRIu64 " after it was reset, and %" PRIu64
                    " are in use",
                    s.peak, s.current);
    testbed_free(b, buffers[0]);
    testbed_free(b, testbed_alloc(b, PART));
    testbed_free(b, testbed_alloc(b, PART));
    most = statistics_now(b).peak;
    testbed_require(b, most == s.peak,
                    "memory_stats: the peak went from %" PRIu64 " to %" PRIu64
                    " when a buffer was freed and another one allocated, twice",
                    s.peak, most);
    testbed_free(b, buffers[1]);
}

#define COUNTERS 4
#define LEFT 8
/* Calls overlap only while processors are free, so the check runs for this much processor time,
 * within limits. */
#define RACE_NS 800000000
#define RACE_MOST_NS 3000000000

typedef struct counted {
    void *left[COUNTERS][LEFT];
    int64_t start, processor_start;
} counted;

static void leave_buffers(testbed *b, void *left[LEFT])
{
    for (uint64_t i = 0; i < LEFT; i++)
        left[i] = testbed_alloc(b, 700 + 300 * i);
}

static void free_buffers(testbed *b, void *left[LEFT])
{
    for (int i = 0; i < LEFT; i++)
        testbed_free(b, left[i]);
}

static int64_t processor_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Calls slots without the checks of the testbed, so that calls overlap. */
static void count_meanwhile(testbed *b, int number, void *user)
{
    counted *c = user;
    collet_error err;
    while (processor_now() < c->processor_start + RACE_NS &&
           testbed_now() < c->start + RACE_MOST_NS)
        for (uint64_t i = 0; i < 100; i++) {
            collet_buffer *one = NULL, *two = NULL;
            if (b->plugin->buffer_alloc(b->device, &one, 1 + i * 37 % 5000, &err) != COLLET_OK ||
                b->plugin->buffer_alloc(b->device, &two, 256, &err) != COLLET_OK)
                testbed_fail(b, "buffer_alloc of a few bytes failed: %s", err.text);
            b->plugin->buffer_free(b->device, one);
            b->plugin->buffer_free(b->device, two);
        }
    leave_buffers(b, c->left[number]);
}

/* Threads allocate and free concurrently; afterwards the counters must be as if one thread had done
 * so. */
static void counters(testbed *b)
{
    if (b->one_thread)
        testbed_skip(b, "one thread at a time may use the device");
    counted *c = kit_memory(sizeof *c);
    uint64_t before = statistics_now(b).current, expected, found;
    for (int i = 0; i < COUNTERS; i++)
        leave_buffers(b, c->left[i]);
    expected = statistics_now(b).current;
    for (int i = 0; i < COUNTERS; i++)
        free_buffers(b, c->left[i]);
    c->start = testbed_now();
    c->processor_start = processor_now();
    testbed_threads(b, COUNTERS, count_meanwhile, c);
    found = statistics_now(b).current;
    testbed_require(b, found == expected,
                    "memory_stats: current is %" PRIu64
                    " after four threads allocated and freed at "
                    "once, and %" PRIu64 " with the same buffers from one thread",
                    found, expected);
    for (int i = 0; i < COUNTERS; i++)
        free_buffers(b, c->left[i]);
    found = statistics_now(b).current;
    testbed_require(b, found == before,
                    "memory_stats: current is %" PRIu64 " when all is freed, and was %" PRIu64,
                    found, before);
    free(c);
}

const kit_verb verbs_memory[] = {
    {"memory.apart", NEEDS_MEMORY, apart},
    {"memory.reused", NEEDS_MEMORY | NEEDS_ADD, reused},
    {"memory.huge", NEEDS_MEMORY, huge},
    {"memory.limit", NEEDS_MEMORY | NEEDS_CLOSED, limit},
    {"memory.statistics", NEEDS_MEMORY, statistics},
    {"memory.peak", NEEDS_MEMORY, peak},
    {"memory.counters", NEEDS_MEMORY, counters},
    {0},
};
