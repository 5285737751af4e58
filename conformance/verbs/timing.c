/* SPDX-License-Identifier: Apache-2.0 */
/* collet.timing/1: compares its clock with the host's.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <time.h>

/* The checks hold whatever the scheduler does, because they compare a stamp with the host's times before
 * and after the event, never the duration of some work with the duration of other work. If the host must see the
 * device at work, the checks try with more and more kernels. */
#define TRIES 4
#define TRIES_IDLE 3    /* tries, if the host never sees the device at work */
#define RESOLUTION 5000 /* nanoseconds by which `elapsed` may be wrong, in addition to 2 % */

static collet_stamp *stamp_in(testbed *b, collet_queue *q)
{
    collet_stamp *stamp = NULL;
    collet_status status = try_stamp(b, q, &stamp);
    testbed_require(b, status == COLLET_OK, "stamp returned %s", collet_status_name(status));
    return stamp;
}

/* ---- The testbed ----------------------------------------------------------------------------- */

typedef struct timing_testbed {
    collet_queue *q;
    void *x, *one;
} timing_testbed;

/* A stamp, and two times of the host between which its time lies. */
typedef struct moment {
    collet_stamp *stamp;
    int64_t from, to;
} moment;

static moment moment_in(testbed *b, timing_testbed *t)
{
    moment m = {.from = testbed_now()};
    testbed_chain(b, t->q, t->x, t->one, 1, 1);
    m.stamp = stamp_in(b, t->q);
    testbed_settle(b, t->q);
    (void)testbed_elapsed(b, m.stamp, m.stamp);
    m.to = testbed_now();
    return m;
}

static timing_testbed begin(testbed *b)
{
    if (!testbed_timing(b))
        testbed_skip(b, "the device has no " COLLET_EXTENSION_TIMING);
    testbed_slow(b);
    timing_testbed t = {.q = testbed_queue(b)};
    t.x = testbed_numbers(b, t.q, b->elements, 0);
    t.one = testbed_numbers(b, t.q, 1, 1);
    testbed_chain(b, t.q, t.x, t.one, b->elements, 1); /* compiles */
    testbed_release(b, moment_in(b, &t).stamp);
    return t;
}

static void end(testbed *b, timing_testbed *t)
{
    testbed_settle(b, t->q);
    testbed_free_all(b, t->x, t->one);
    testbed_destroy(b, t->q);
}

static int kernels_of_try(const testbed *b, int i)
{
    return b->chain << (i < 2 ? i : 2);
}

static bool is_pending(testbed *b, timing_testbed *t, uint64_t value)
{
    return try_wait(b, t->q, value, 0) == COLLET_NOT_READY;
}

static bool near(int64_t a, int64_t b)
{
    return a - b <= RESOLUTION && b - a <= RESOLUTION;
}

static int64_t between(testbed *b, const moment *first, const moment *last)
{
    int64_t measured = testbed_elapsed(b, first->stamp, last->stamp);
    int64_t shortest = last->from - first->to, longest = last->to - first->from;
    testbed_require(b,
                    measured >= shortest - shortest / 50 - RESOLUTION &&
                        measured <= longest + longest / 50 + RESOLUTION,
                    "the device measured %lld ns for work that took at least %lld and at most %lld",
                    (long long)measured, (long long)shortest, (long long)longest);
    return measured;
}

/* ---- The checks ---------------------------------------------------------------------------- */

#define MOMENTS 9

/* Moments that are 1, 2, 4, ... ms apart: a clock that is coarse, slow or fast misses some. */
static void clock_of_device(testbed *b)
{
    timing_testbed t = begin(b);
    moment m[MOMENTS];
    for (int i = 0; i < MOMENTS; i++) {
        if (i > 0)
            nanosleep(&(struct timespec){.tv_nsec = 1000000L << (i - 1)}, NULL);
        m[i] = moment_in(b, &t);
        if (i > 0)
            (void)between(b, &m[i - 1], &m[i]);
    }
    (void)between(b, &m[0], &m[MOMENTS - 1]);
    for (int i = 0; i < MOMENTS; i++)
        testbed_release(b, m[i].stamp);
    testbed_release(b, NULL);
    end(b, &t);
}

typedef struct sight {
    bool before, after; /* whether work was pending before a call, and after it */
} sight;

static void require_sums(testbed *b, collet_stamp *const at[3])
{
    int64_t little = testbed_elapsed(b, at[0], at[1]), much = testbed_elapsed(b, at[1], at[2]);
    int64_t both = testbed_elapsed(b, at[0], at[2]), back = testbed_elapsed(b, at[2], at[0]);
    int64_t none = testbed_elapsed(b, at[1], at[1]);
    testbed_require(b, little >= 0 && much >= 0,
                    "the times from each stamp to the next one are %lld and %lld ns",
                    (long long)little, (long long)much);
    testbed_require(
        b, near(little + much, both),
        "from the first stamp to the second %lld ns, to the third %lld more, and from the "
        "first to the third %lld",
        (long long)little, (long long)much, (long long)both);
    testbed_require(b, near(back, -both), "%lld ns from one stamp to the other, and %lld back",
                    (long long)both, (long long)back);
    testbed_require(b, near(none, 0), "%lld ns from a stamp to itself", (long long)none);
}

/* Reads the time of a stamp while work after it is pending. */
static sight read_early(testbed *b, timing_testbed *t, int kernels)
{
    sight seen;
    moment first = moment_in(b, t), middle = {.from = first.to};
    testbed_chain(b, t->q, t->x, t->one, b->elements, 2);
    middle.stamp = stamp_in(b, t->q);
    uint64_t value = testbed_mark(b, t->q);
    testbed_chain(b, t->q, t->x, t->one, b->elements, kernels);
    collet_stamp *last = stamp_in(b, t->q);
    uint64_t last_value = testbed_mark(b, t->q);
    testbed_wait(b, t->q, value);
    seen.before = is_pending(b, t, last_value);
    int64_t early = testbed_elapsed(b, first.stamp, middle.stamp);
    middle.to = testbed_now();
    seen.after = is_pending(b, t, last_value);
    testbed_settle(b, t->q);
    int64_t late = between(b, &first, &middle);
    testbed_require(b, near(early, late), "%lld ns between two stamps, and later %lld",
                    (long long)early, (long long)late);
    require_sums(b, (collet_stamp *[]){first.stamp, middle.stamp, last});
    testbed_release(b, first.stamp);
    testbed_release(b, middle.stamp);
    testbed_release(b, last);
    return seen;
}

static void order(testbed *b)
{
    timing_testbed t = begin(b);
    sight any = {0};
    for (int i = 0; i < (any.before ? TRIES : TRIES_IDLE) && !any.after; i++) {
        sight seen = read_early(b, &t, kernels_of_try(b, i));
        any.before |= seen.before;
        any.after |= seen.after;
    }
    testbed_require(b, any.after || !any.before,
                    "elapsed waited until work was done that was enqueued after the stamps");
    end(b, &t);
}

typedef struct length {
    sight seen; /* around the call of stamp */
    int64_t worked, counted;
    bool conclusive; /* `worked` is so long that a stamp that was too early would be noticed */
} length;

/* Makes a stamp after slow work. `worked`: how long after the request of the stamp the host saw the work pending.
 * `counted`: the time from the request to the stamp, by the device's clock. */
static length measure(testbed *b, timing_testbed *t, int kernels)
{
    length l = {0};
    moment first = moment_in(b, t), last = {.from = first.to};
    testbed_chain(b, t->q, t->x, t->one, b->elements, kernels);
    uint64_t value = testbed_mark(b, t->q);
    l.seen.before = is_pending(b, t, value);
    last.stamp = stamp_in(b, t->q);
    int64_t stamped = testbed_now();
    for (int64_t now = stamped; try_wait(b, t->q, value, 1000000) == COLLET_NOT_READY;
         now = testbed_now()) {
        l.seen.after = true;
        l.worked = now - stamped;
    }
    testbed_settle(b, t->q);
    (void)testbed_elapsed(b, last.stamp, last.stamp);
    last.to = testbed_now();
    l.counted = between(b, &first, &last) - (stamped - first.to);
    l.conclusive = l.worked / 2 > first.to - first.from + RESOLUTION;
    testbed_release(b, first.stamp);
    testbed_release(b, last.stamp);
    return l;
}

/* The host may learn late that work is done, so it is enough if in one try the stamp counts half of
 * the time. */
static void true_length(testbed *b)
{
    timing_testbed t = begin(b);
    bool conclusive = false, enough = false;
    sight any = {0};
    length l = {0};
    for (int i = 0; i < (any.before ? TRIES : TRIES_IDLE) && !(enough && any.after); i++) {
        l = measure(b, &t, kernels_of_try(b, i));
        conclusive |= l.conclusive;
        enough |= l.conclusive && l.counted >= l.worked / 2;
        any.before |= l.seen.before;
        any.after |= l.seen.after;
    }
    testbed_require(
        b, enough || !conclusive,
        "work was pending for %lld ns after a stamp was requested; of that time the stamp "
        "counts %lld, and less than half in each of %d tries",
        (long long)l.worked, (long long)l.counted, TRIES);
    testbed_require(b, any.after || !any.before, "stamp waited until earlier work was done");
    end(b, &t);
}

/* Stamps are valid after their queue was destroyed. */
static void destroyed(testbed *b)
{
    timing_testbed t = begin(b);
    collet_queue *q = testbed_queue(b);
    collet_stamp *first = stamp_in(b, q), *never = stamp_in(b, t.q);
    testbed_after(b, q, t.q, testbed_mark(b, t.q));
    collet_stamp *last = stamp_in(b, q);
    testbed_settle(b, t.q);
    testbed_destroy(b, q);
    testbed_require(b, testbed_elapsed(b, first, last) >= 0,
                    "a negative time in a destroyed queue");
    (void)testbed_elapsed(b, first, never);
    testbed_release(b, first);
    testbed_release(b, never);
    testbed_release(b, last);
    end(b, &t);
}

/* An elapsed time of more nanoseconds than 32 bits hold. */
static void longest(testbed *b)
{
    timing_testbed t = begin(b);
    moment first = moment_in(b, &t);
    nanosleep(&(struct timespec){.tv_sec = 4, .tv_nsec = 400000000}, NULL);
    moment last = moment_in(b, &t);
    (void)between(b, &first, &last);
    testbed_release(b, first.stamp);
    testbed_release(b, last.stamp);
    end(b, &t);
}

/* Many stamps are kept; each has a different time. */
static void many(testbed *b)
{
    enum { STAMPS = 600 };
    timing_testbed t = begin(b);
    collet_stamp *stamps[STAMPS];
    int64_t sum = 0;
    for (int i = 0; i < STAMPS; i++) {
        testbed_chain(b, t.q, t.x, t.one, 1, 1);
        stamps[i] = stamp_in(b, t.q);
    }
    testbed_settle(b, t.q);
    for (int i = 1; i < STAMPS; i++) {
        int64_t step = testbed_elapsed(b, stamps[i - 1], stamps[i]);
        testbed_require(b, step >= -RESOLUTION,
                        "of %d stamps, number %d is %lld ns before the last", STAMPS, i,
                        (long long)-step);
        sum += step;
    }
    int64_t all = testbed_elapsed(b, stamps[0], stamps[STAMPS - 1]);
    testbed_require(
        b, all >= 0 && (sum - all <= RESOLUTION * 2) && (all - sum <= RESOLUTION * 2),
        "%lld ns between the first and the last of %d stamps, and %lld from each to the next",
        (long long)all, STAMPS, (long long)sum);
    for (int i = 0; i < STAMPS; i++)
        testbed_release(b, stamps[i]);
    end(b, &t);
}

/* A stamp in a queue that only waits for another queue's work must be after that work. (The stamp
 * of that work may be late on a busy machine.) */
static void follows(testbed *b)
{
    timing_testbed t = begin(b);
    int64_t passed = -RESOLUTION - 1;
    testbed_need_queues(b, 2);
    collet_queue *q = testbed_queue(b);
    for (int i = 0; i < 8 && passed < -RESOLUTION; i++) {
        testbed_chain(b, t.q, t.x, t.one, b->elements, CHAIN);
        collet_stamp *worked = stamp_in(b, t.q);
        testbed_after(b, q, t.q, testbed_mark(b, t.q));
        collet_stamp *after = stamp_in(b, q);
        testbed_settle(b, t.q);
        testbed_settle(b, q);
        passed = testbed_elapsed(b, worked, after);
        testbed_release(b, worked);
        testbed_release(b, after);
    }
    testbed_require(b, passed >= -RESOLUTION,
                    "a stamp in a queue that waits for another's work is %lld ns before the end of "
                    "that, in each of 8 tries",
                    (long long)-passed);
    testbed_destroy(b, q);
    end(b, &t);
}

const kit_verb verbs_timing[] = {
    {"timing.clock", NEEDS_ADD | NEEDS_QUEUES, clock_of_device},
    {"timing.order", NEEDS_ADD | NEEDS_QUEUES, order},
    {"timing.length", NEEDS_ADD | NEEDS_QUEUES, true_length},
    {"timing.destroyed", NEEDS_ADD | NEEDS_QUEUES, destroyed},
    {"timing.longest", NEEDS_ADD | NEEDS_QUEUES, longest},
    {"timing.many", NEEDS_ADD | NEEDS_QUEUES, many},
    {"timing.follows", NEEDS_ADD | NEEDS_QUEUES, follows},
    {0},
};
