/* SPDX-License-Identifier: Apache-2.0 */
/* collet.record/1: recorded kernels run when they are replayed, and only then. */
#include "verbs/verbs.h"

#include <stdatomic.h>
#include <time.h>

/* What a check works on: x = x + one on n elements, in a queue that has done so once. */
typedef struct recorder {
    const collet_record_extension *table;
    collet_queue *q;
    void *one, *x;
    int64_t n;
} recorder;

static recorder recorder_open(bench *b, int64_t n)
{
    recorder r = {.table = bench_extension(b, COLLET_EXTENSION_RECORD), .n = n};
    if (!r.table)
        bench_skip(b, "the device does not offer " COLLET_EXTENSION_RECORD);
    r.q = bench_queue(b);
    r.one = bench_numbers(b, r.q, 1, 1);
    r.x = bench_numbers(b, r.q, n, 0);
    bench_chain(b, r.q, r.x, r.one, n, 1);
    return r;
}

static void recorder_close(bench *b, recorder *r)
{
    bench_settle(b, r->q);
    bench_free(b, r->one);
    bench_free(b, r->x);
    bench_destroy(b, r->q);
}

static void begin(bench *b, const recorder *r)
{
    slot_call s;
    slot_begin(&s, b, "begin");
    collet_status status = slot_end(&s, r->table->begin(b->device, r->q, &s.err), MAY_ENQUEUE);
    if (status == COLLET_REFUSED)
        bench_skip(b, "begin returned REFUSED: %s", s.err.text);
    bench_require(b, status == COLLET_OK, "begin returned %s", collet_status_name(status));
}

static void end(bench *b, const recorder *r, collet_recording **recording)
{
    slot_call s;
    slot_begin(&s, b, "end");
    collet_status status =
        slot_end(&s, r->table->end(b->device, r->q, recording, &s.err), MAY_ENQUEUE);
    bench_require(b, status == COLLET_OK, "end returned %s", collet_status_name(status));
    bench_require(b, !recording || *recording, "end returned OK and no recording");
}

/* `count` additions to x. */
static void record(bench *b, const recorder *r, void *x, int count, collet_recording **recording)
{
    begin(b, r);
    bench_chain(b, r->q, x, r->one, r->n, count);
    end(b, r, recording);
}

static void replay(bench *b, const recorder *r, collet_recording *recording)
{
    slot_call s;
    slot_begin(&s, b, "replay");
    collet_status status =
        slot_end(&s, r->table->replay(b->device, r->q, recording, &s.err), MAY_ENQUEUE);
    bench_require(b, status == COLLET_OK, "replay returned %s", collet_status_name(status));
}

static void release(bench *b, const recorder *r, collet_recording *recording)
{
    slot_call s;
    bench_settle(b, r->q);
    slot_begin(&s, b, "release");
    r->table->release(b->device, recording);
    slot_end(&s, COLLET_OK, 0);
}

static void replays(bench *b)
{
    recorder r = recorder_open(b, 1000);
    collet_recording *recording = NULL;
    bench_settle(b, r.q);
    record(b, &r, r.x, 3, &recording);
    bench_expect(b, r.q, r.x, r.n, 1, "additions that were only recorded");
    for (int i = 0; i < 4; i++)
        replay(b, &r, recording);
    bench_expect(b, r.q, r.x, r.n, 13, "3 additions that were replayed 4 times");
    release(b, &r, recording);
    release(b, &r, NULL);
    recorder_close(b, &r);
}

/* Other buffers, then other kernels, in the place of a recording whose replays are at work. */
static void replaced(bench *b)
{
    bench_slow(b);
    recorder r = recorder_open(b, b->elements);
    collet_recording *recording = NULL;
    void *y = bench_numbers(b, r.q, r.n, 0);
    record(b, &r, r.x, 4, &recording);
    replay(b, &r, recording);
    record(b, &r, y, 4, &recording);
    replay(b, &r, recording);
    record(b, &r, y, 2, &recording);
    replay(b, &r, recording);
    bench_expect(b, r.q, r.x, r.n, 5, "a replay before another recording took its place");
    bench_expect(b, r.q, y, r.n, 6, "replays of recordings that took the place of another");
    release(b, &r, recording);
    bench_settle(b, r.q);
    bench_free(b, y);
    recorder_close(b, &r);
}

/* Replays are in the order of the queue, and marks follow them. */
static void ordered(bench *b)
{
    bench_slow(b);
    recorder r = recorder_open(b, b->elements);
    collet_recording *recording = NULL;
    collet_queue *other = b->max_queues > 1 ? bench_queue(b) : r.q;
    record(b, &r, r.x, 4, &recording);
    bench_chain(b, r.q, r.x, r.one, r.n, CHAIN);
    replay(b, &r, recording);
    if (other != r.q)
        bench_after(b, other, r.q, bench_mark(b, r.q));
    bench_expect(b, other, r.x, r.n, 1 + CHAIN + 4, "a replay, read through another queue");
    replay(b, &r, recording);
    bench_wait(b, r.q, bench_mark(b, r.q));
    bench_chain(b, r.q, r.x, r.one, r.n, 1);
    bench_expect(b, r.q, r.x, r.n, 1 + CHAIN + 4 + 4 + 1, "work after a replay");
    release(b, &r, recording);
    if (other != r.q)
        bench_destroy(b, other);
    recorder_close(b, &r);
}

typedef struct waiter {
    const recorder *r;
    uint64_t value;
} waiter;

static void wait_meanwhile(bench *b, int number, void *user)
{
    const waiter *w = user;
    (void)number;
    bench_wait(b, w->r->q, w->value);
}

/* Waits while the queue records are for what was enqueued before. */
static void waits(bench *b)
{
    bench_slow(b);
    recorder r = recorder_open(b, b->elements);
    collet_recording *recording = NULL;
    bench_chain(b, r.q, r.x, r.one, r.n, CHAIN);
    waiter w = {&r, bench_mark(b, r.q)};
    begin(b, &r);
    bench_chain(b, r.q, r.x, r.one, r.n, 1);
    bench_threads(b, 3, wait_meanwhile, &w);
    bench_wait(b, r.q, w.value);
    bench_chain(b, r.q, r.x, r.one, r.n, 1);
    end(b, &r, &recording);
    replay(b, &r, recording);
    bench_expect(b, r.q, r.x, r.n, 1 + CHAIN + 2, "a recording during which threads waited");
    release(b, &r, recording);
    recorder_close(b, &r);
}

static void dropped(bench *b)
{
    recorder r = recorder_open(b, 1000);
    for (int i = 0; i < 20; i++) {
        begin(b, &r);
        bench_chain(b, r.q, r.x, r.one, r.n, i % 3);
        end(b, &r, NULL);
        bench_chain(b, r.q, r.x, r.one, r.n, 1);
    }
    bench_expect(b, r.q, r.x, r.n, 21, "a queue whose recordings were dropped");
    recorder_close(b, &r);
}

/* More calls than fit into a small table. */
static void many(bench *b)
{
    enum { CALLS = 1100 };
    recorder r = recorder_open(b, 8);
    collet_recording *recording = NULL;
    record(b, &r, r.x, CALLS, &recording);
    for (int i = 0; i < 3; i++)
        replay(b, &r, recording);
    bench_expect(b, r.q, r.x, r.n, 1 + 3 * CALLS, "a recording of 1100 calls, replayed 3 times");
    release(b, &r, recording);
    recorder_close(b, &r);
}

static void fill(bench *b, const recorder *r, void *buffer, int32_t row, float value)
{
    collet_fill_params params = {.struct_size = sizeof params, .value = {.dtype = b->dtype}};
    bench_operand out = bench_vector(b, buffer, 0, r->n);
    if (b->dtype == COLLET_F32)
        params.value.value.f32 = value;
    else
        params.value.value.f64 = (double)value;
    bench_require(b, try_run(b, r->q, (uint32_t)row, &out, 1, 1, &params, NULL, 0) == COLLET_OK,
                  "run of fill failed");
}

/* Calls of one row differ in their parameters and their operands. */
static void calls(bench *b)
{
    enum { FILLS = 5 };
    int32_t row = bench_row(b, COLLET_OP_FILL, COLLET_SIG(b->dtype));
    if (row < 0)
        bench_skip(b, "the device has no kernel fill");
    recorder r = recorder_open(b, 100);
    collet_recording *recording = NULL;
    void *buffers[FILLS];
    for (int i = 0; i < FILLS; i++) {
        buffers[i] = bench_numbers(b, r.q, r.n, 0);
        fill(b, &r, buffers[i], row, -1);
    }
    begin(b, &r);
    for (int i = 0; i < FILLS; i++)
        fill(b, &r, buffers[i], row, (float)(10 + i));
    end(b, &r, &recording);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < FILLS; i++)
            bench_chain(b, r.q, buffers[i], r.one, r.n, 1);
        replay(b, &r, recording);
        for (int i = 0; i < FILLS; i++)
            bench_expect(b, r.q, buffers[i], r.n, 10 + i, "recorded fills with other values each");
    }
    release(b, &r, recording);
    for (int i = 0; i < FILLS; i++)
        bench_free(b, buffers[i]);
    recorder_close(b, &r);
}

#define RECORDERS 3

/* Waits, if it does not take long, until all threads have come here for the n-th time. */
static void meet(_Atomic int *arrived, int n)
{
    atomic_fetch_add(arrived, 1);
    for (int i = 0; i < 100 && atomic_load(arrived) < n * RECORDERS; i++)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void record_beside(bench *b, int number, void *user)
{
    recorder r = recorder_open(b, 64);
    double sum = 1;
    for (int i = 0; i < 12; i++) {
        collet_recording *recording = NULL;
        int count = 5 + number + i % 4;
        begin(b, &r);
        meet(user, 2 * i + 1);
        bench_chain(b, r.q, r.x, r.one, r.n, count);
        meet(user, 2 * i + 2);
        end(b, &r, &recording);
        replay(b, &r, recording);
        sum += count;
        release(b, &r, recording);
    }
    bench_expect(b, r.q, r.x, r.n, sum, "what several queues recorded at the same time");
    recorder_close(b, &r);
}

static void together(bench *b)
{
    if (!bench_extension(b, COLLET_EXTENSION_RECORD))
        bench_skip(b, "the device does not offer " COLLET_EXTENSION_RECORD);
    if (b->max_queues < 3 || b->one_thread)
        bench_skip(b, "the device has no three queues for three threads");
    _Atomic int arrived = 0;
    bench_threads(b, RECORDERS, record_beside, &arrived);
}

static void record_and_release(bench *b)
{
    recorder r = recorder_open(b, 64);
    collet_recording *recording = NULL;
    record(b, &r, r.x, 3, &recording);
    replay(b, &r, recording);
    record(b, &r, r.x, 2, &recording);
    begin(b, &r);
    end(b, &r, NULL);
    release(b, &r, recording);
    recorder_close(b, &r);
}

static void leaks(bench *b)
{
    bench_repeat(b, 3, record_and_release, "begin, end, replay and release of recordings");
}

const kit_verb verbs_record[] = {
    {"record.replays", NEEDS_ADD | NEEDS_QUEUES, replays},
    {"record.replaced", NEEDS_ADD | NEEDS_QUEUES, replaced},
    {"record.ordered", NEEDS_ADD | NEEDS_QUEUES, ordered},
    {"record.waits", NEEDS_ADD | NEEDS_QUEUES, waits},
    {"record.dropped", NEEDS_ADD | NEEDS_QUEUES, dropped},
    {"record.many", NEEDS_ADD | NEEDS_QUEUES, many},
    {"record.calls", NEEDS_ADD | NEEDS_QUEUES, calls},
    {"record.together", NEEDS_ADD | NEEDS_QUEUES, together},
    {"record.leaks", NEEDS_ADD | NEEDS_QUEUES, leaks},
    {0},
};
