/* SPDX-License-Identifier: Apache-2.0 */
/* collet.timing/1: what its clock shows, against the host's. */
#include "verbs/verbs.h"

/* Other programs may take the processors: what depends on time is tried this often. */
#define TRIES 8
#define RESOLUTION 5000 /* nanoseconds by which sums of differences may be off */

const collet_timing_extension *bench_timing(bench *b)
{
    return b->has_queues ? bench_extension(b, COLLET_EXTENSION_TIMING) : NULL;
}

collet_status try_stamp(bench *b, collet_queue *q, collet_stamp **stamp)
{
    slot_call s;
    const collet_timing_extension *table = bench_timing(b);
    slot_begin(&s, b, COLLET_EXTENSION_TIMING " stamp");
    collet_status status =
        slot_end(&s, table->stamp(b->device, q, stamp, &s.err), MAY_ENQUEUE | MAY(NO_MEMORY));
    bench_require(b, status != COLLET_OK || *stamp, "stamp returned OK and no stamp");
    return status;
}

int64_t bench_elapsed(bench *b, collet_stamp *first, collet_stamp *last)
{
    slot_call s;
    int64_t nanoseconds = INT64_MIN;
    const collet_timing_extension *table = bench_timing(b);
    slot_begin(&s, b, COLLET_EXTENSION_TIMING " elapsed");
    collet_status status =
        slot_end(&s, table->elapsed(b->device, first, last, &nanoseconds, &s.err),
                 MAY(FAILED) | MAY(DEVICE_LOST));
    bench_require(b, status == COLLET_OK, "elapsed returned %s: %s", collet_status_name(status),
                  s.err.text);
    bench_require(b, nanoseconds != INT64_MIN, "elapsed returned OK and set no time");
    return nanoseconds;
}

void bench_release(bench *b, collet_stamp *stamp)
{
    slot_call s;
    const collet_timing_extension *table = bench_timing(b);
    slot_begin(&s, b, COLLET_EXTENSION_TIMING " release");
    table->release(b->device, stamp);
    slot_end(&s, COLLET_OK, 0);
}

static collet_stamp *stamp_in(bench *b, collet_queue *q)
{
    collet_stamp *stamp = NULL;
    collet_status status = try_stamp(b, q, &stamp);
    bench_require(b, status == COLLET_OK, "stamp returned %s", collet_status_name(status));
    return stamp;
}

/* ---- The bench ----------------------------------------------------------------------------- */

typedef struct timing_bench {
    collet_queue *q;
    void *x, *one;
} timing_bench;

static timing_bench begin(bench *b)
{
    if (!bench_timing(b))
        bench_skip(b, "the device has no " COLLET_EXTENSION_TIMING);
    bench_slow(b);
    timing_bench t = {.q = bench_queue(b)};
    t.x = bench_numbers(b, t.q, b->elements, 0);
    t.one = bench_numbers(b, t.q, 1, 1);
    bench_chain(b, t.q, t.x, t.one, b->elements, 1); /* compiles */
    bench_settle(b, t.q);
    return t;
}

static void end(bench *b, timing_bench *t)
{
    bench_settle(b, t->q);
    bench_free(b, t->x);
    bench_free(b, t->one);
    bench_destroy(b, t->q);
}

static bool near(int64_t a, int64_t b)
{
    return a - b <= RESOLUTION && b - a <= RESOLUTION;
}

/* ---- The checks ---------------------------------------------------------------------------- */

/* Three stamps, little work and much between them: whether their times show it. */
static bool in_order(bench *b, timing_bench *t)
{
    collet_stamp *at[3];
    at[0] = stamp_in(b, t->q);
    bench_chain(b, t->q, t->x, t->one, b->elements, 2);
    at[1] = stamp_in(b, t->q);
    bench_chain(b, t->q, t->x, t->one, b->elements, CHAIN);
    at[2] = stamp_in(b, t->q);
    bench_settle(b, t->q);
    int64_t little = bench_elapsed(b, at[0], at[1]), much = bench_elapsed(b, at[1], at[2]);
    int64_t both = bench_elapsed(b, at[0], at[2]), back = bench_elapsed(b, at[2], at[0]);
    int64_t none = bench_elapsed(b, at[1], at[1]);
    bench_require(b, little >= 0 && much >= 0,
                  "the time from a stamp to a later one is %lld and %lld ns", (long long)little,
                  (long long)much);
    bench_require(b, both > 0, "the time of %d kernels is 0 ns", CHAIN + 2);
    bench_require(
        b, near(little + much, both),
        "from the first stamp to the second %lld ns, to the third %lld more, and from the "
        "first to the third %lld",
        (long long)little, (long long)much, (long long)both);
    bench_require(b, near(back, -both), "%lld ns from a stamp to another one, and %lld back",
                  (long long)both, (long long)back);
    bench_require(b, near(none, 0), "%lld ns from a stamp to itself", (long long)none);
    for (int i = 0; i < 3; i++)
        bench_release(b, at[i]);
    return little < much;
}

static void order(bench *b)
{
    timing_bench t = begin(b);
    bool shown = false;
    for (int i = 0; i < TRIES && !shown; i++)
        shown = in_order(b, &t);
    bench_require(b, shown,
                  "two kernels before a stamp took as long as %d or more after it, in %d tries: it "
                  "is not the time at which what was before it was done",
                  CHAIN, TRIES);
    bench_release(b, NULL);
    end(b, &t);
}

#define EACH 8

/* A stamp after each of several kernels: whether none took less than a quarter of the mean. */
static bool similar(bench *b, timing_bench *t)
{
    collet_stamp *at[EACH + 1];
    for (int i = 0; i <= EACH; i++) {
        bench_chain(b, t->q, t->x, t->one, b->elements, 1);
        at[i] = stamp_in(b, t->q);
    }
    bench_settle(b, t->q);
    int64_t whole = bench_elapsed(b, at[0], at[EACH]), least = whole;
    for (int i = 0; i < EACH; i++) {
        int64_t one = bench_elapsed(b, at[i], at[i + 1]);
        least = one < least ? one : least;
    }
    for (int i = 0; i <= EACH; i++)
        bench_release(b, at[i]);
    return least >= whole / EACH / 4;
}

static void each(bench *b)
{
    timing_bench t = begin(b);
    bool shown = false;
    for (int i = 0; i < TRIES && !shown; i++)
        shown = similar(b, &t);
    bench_require(b, shown,
                  "of %d equal kernels, each followed by a stamp, one took less than a quarter of "
                  "the mean, in %d tries",
                  EACH, TRIES);
    end(b, &t);
}

typedef struct length {
    int64_t least, most, measured;
    bool pending, free_to_go; /* the work was pending before the second stamp; after it, too */
} length;

/* Work that the host sees pending for a while. */
static length measure(bench *b, timing_bench *t)
{
    length l = {0};
    int64_t before = bench_now(), pending = 0;
    collet_stamp *first = stamp_in(b, t->q);
    bench_settle(b, t->q);
    (void)bench_elapsed(b, first, first);
    int64_t begun = bench_now();
    bench_chain(b, t->q, t->x, t->one, b->elements, CHAIN);
    uint64_t value = bench_mark(b, t->q);
    l.pending = try_wait(b, t->q, value, 0) == COLLET_NOT_READY;
    collet_stamp *last = stamp_in(b, t->q);
    for (int64_t now = bench_now(); try_wait(b, t->q, value, 1000000) == COLLET_NOT_READY;
         now = bench_now()) {
        l.free_to_go = true;
        pending = now;
    }
    bench_settle(b, t->q);
    l.measured = bench_elapsed(b, first, last);
    l.most = bench_now() - before;
    l.least = pending ? pending - begun : 0;
    bench_release(b, first);
    bench_release(b, last);
    return l;
}

/* Neither longer than the host waited, nor, in each try, less than half as long. */
static void true_length(bench *b)
{
    timing_bench t = begin(b);
    bool enough = false, pending = false, free_to_go = false;
    length l = {0};
    for (int i = 0; i < TRIES && !(enough && free_to_go); i++) {
        l = measure(b, &t);
        bench_require(b, l.measured <= l.most + l.most / 50 + RESOLUTION,
                      "the device measured %lld ns, but no more than %lld passed",
                      (long long)l.measured, (long long)l.most);
        enough |= l.measured >= l.least / 2;
        pending |= l.pending;
        free_to_go |= l.free_to_go;
    }
    bench_require(b, enough,
                  "the device measured %lld ns for work that was pending for %lld, and less than "
                  "half in each of %d tries",
                  (long long)l.measured, (long long)l.least, TRIES);
    bench_require(b, free_to_go || !pending, "stamp waited until earlier work was done");
    end(b, &t);
}

/* Stamps outlive their queue. */
static void destroyed(bench *b)
{
    timing_bench t = begin(b);
    collet_queue *q = bench_queue(b);
    collet_stamp *first = stamp_in(b, q), *never = stamp_in(b, t.q);
    bench_after(b, q, t.q, bench_mark(b, t.q));
    collet_stamp *last = stamp_in(b, q);
    bench_settle(b, t.q);
    bench_destroy(b, q);
    bench_require(b, bench_elapsed(b, first, last) >= 0, "a negative time in a destroyed queue");
    (void)bench_elapsed(b, first, never);
    bench_release(b, first);
    bench_release(b, never);
    bench_release(b, last);
    end(b, &t);
}

const kit_verb verbs_timing[] = {
    {"timing.order", NEEDS_ADD | NEEDS_QUEUES, order},
    {"timing.each", NEEDS_ADD | NEEDS_QUEUES, each},
    {"timing.length", NEEDS_ADD | NEEDS_QUEUES, true_length},
    {"timing.destroyed", NEEDS_ADD | NEEDS_QUEUES, destroyed},
    {0},
};
