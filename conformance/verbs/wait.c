/* SPDX-License-Identifier: Apache-2.0 */
/* Marks and waits. The results that a wait reports as done are read through another queue, which is
 * not ordered after the work and therefore shows the real progress.
 * Tests: tests/conformance/verbs/defects.sh */
#include "verbs/verbs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Number of tries, with more and more work, for checks that depend on time, because other programs
 * may use the processors. */
#define TRIES 12
#define WORK(b, try) ((b)->chain << ((try) < 3 ? (try) : 3))

typedef struct wait_testbed {
    collet_queue *worker, *reader;
    void *x, *one;
    int64_t n;
    double value; /* value of x when all work is done */
} wait_testbed;

static wait_testbed wait_begin(testbed *b)
{
    wait_testbed w = {0};
    collet_queue *q[2] = {0};
    testbed_slow(b);
    int count = testbed_queues(b, q, 2);
    w.worker = q[0];
    w.reader = q[count - 1];
    w.n = b->elements;
    w.one = testbed_numbers(b, w.worker, 1, 1);
    w.x = testbed_numbers(b, w.worker, w.n, 0);
    testbed_settle(b, w.worker);
    return w;
}

static void wait_end(testbed *b, wait_testbed *w)
{
    testbed_settle(b, w->worker);
    testbed_free_all(b, w->one, w->x);
    testbed_destroy(b, w->worker);
    if (w->reader != w->worker)
        testbed_destroy(b, w->reader);
}

static uint64_t work(testbed *b, wait_testbed *w, int count)
{
    testbed_chain(b, w->worker, w->x, w->one, w->n, count);
    w->value += count;
    return testbed_mark(b, w->worker);
}

static void early(testbed *b)
{
    wait_testbed w = wait_begin(b);
    for (int i = 0; i < 4; i++) {
        uint64_t value = work(b, &w, CHAIN / 2);
        testbed_wait(b, w.worker, value);
        testbed_expect(b, w.reader, w.x, w.n, w.value,
                       "results of work that queue_wait reported as done");
    }
    wait_end(b, &w);
}

/* Repeats waits with a limit until one reports that all is done. */
static void polled(testbed *b)
{
    static const int64_t limits[] = {0, 1, 1000, 1000000, 20000000, 3600000000000, INT64_MAX};
    wait_testbed w = wait_begin(b);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        uint64_t value = work(b, &w, CHAIN / 2);
        while (testbed_poll(b, w.worker, value, limits[i]) == COLLET_NOT_READY)
            continue;
        testbed_expect(b, w.reader, w.x, w.n, w.value,
                       "results of work that queue_wait with a limit reported as done");
    }
    wait_end(b, &w);
}

/* Limits around 2^31, 2^32 and 2^33 nanoseconds, microseconds, milliseconds and seconds, on waits
 * for work. */
static void longest(testbed *b)
{
    static const int64_t units[] = {1, 1000, 1000000, 1000000000};
    wait_testbed w = wait_begin(b);
    for (size_t unit = 0; unit < sizeof units / sizeof *units; unit++)
        for (int bits = 31; bits < 34; bits++)
            for (int64_t more = -1; more < 2; more++) {
                int64_t limit = (((int64_t)1 << bits) + more) * units[unit];
                if (limit > 0)
                    (void)testbed_poll(b, w.worker, work(b, &w, 1), limit);
            }
    testbed_expect(b, w.reader, w.x, w.n, w.value,
                   "results of work that waits with long limits reported as done");
    wait_end(b, &w);
}

/* Waits for slow work with a limit that ends earlier. Returns whether it ended earlier. */
static int waits_too_short(testbed *b, wait_testbed *w, int try, int64_t most)
{
    uint64_t value = work(b, w, WORK(b, try));
    collet_status status = testbed_poll(b, w->worker, value, most);
    int over = status == COLLET_NOT_READY && try_wait(b, w->worker, value, 0) == COLLET_NOT_READY;
    testbed_wait(b, w->worker, value);
    testbed_require(b, try_wait(b, w->worker, value, 0) == COLLET_OK,
                    "queue_wait with the limit 0 did not return OK for work that is done");
    return over;
}

/* Waits until shortly before the end of a second of the clock. */
static void nap(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    int64_t left = 998000000 - now.tv_nsec;
    if (left > 0)
        nanosleep(&(struct timespec){.tv_nsec = left}, NULL);
}

/* NOT_READY comes when the limit is over, not before, and not when the work is done. */
static void limit(testbed *b)
{
    static const clockid_t clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
    wait_testbed w = wait_begin(b);
    int over = 0, at_once = 0;
    for (int i = 0; i < TRIES && !(over && at_once); i++) {
        at_once += try_wait(b, w.worker, work(b, &w, WORK(b, i)), 0) == COLLET_NOT_READY;
        over += waits_too_short(b, &w, i, 5000000);
    }
    testbed_require(b, at_once || w.reader == w.worker,
                    "queue_wait with the limit 0 waited for slow work, or run did, in %d tries",
                    TRIES);
    testbed_require(b, over || w.reader == w.worker,
                    "queue_wait with a limit of 5 ms waited until slow work was done in %d tries",
                    TRIES);
    for (size_t c = 0; c < sizeof clocks / sizeof *clocks; c++) {
        over = 0;
        for (int i = 0; i < TRIES && !over; i++) {
            nap(clocks[c]);
            over = waits_too_short(b, &w, i, 5000000);
        }
        testbed_require(b, over || w.reader == w.worker,
                        "queue_wait with a limit of 5 ms that ends in the next second of the clock "
                        "waited until slow work was done in %d tries",
                        TRIES);
    }
    wait_end(b, &w);
}

/* Waiting for the first of several results does not wait for the other results. */
static void first(testbed *b)
{
    wait_testbed w = wait_begin(b);
    void *y = testbed_numbers(b, w.worker, w.n, 0);
    int ahead = 0;
    for (int i = 0; i < TRIES && !ahead; i++) {
        uint64_t one = work(b, &w, 2);
        testbed_chain(b, w.worker, y, w.one, w.n, WORK(b, i));
        uint64_t all = testbed_mark(b, w.worker);
        testbed_require(b, all >= one, "queue_mark decreased from %llu to %llu",
                        (unsigned long long)one, (unsigned long long)all);
        testbed_wait(b, w.worker, one);
        ahead = try_wait(b, w.worker, all, 0) == COLLET_NOT_READY;
        testbed_expect(b, w.reader, w.x, w.n, w.value, "the first of several results");
        testbed_wait(b, w.worker, all);
        testbed_wait(b, w.worker, one);
    }
    testbed_require(b, ahead || w.reader == w.worker,
                    "queue_wait for an early mark waited for all that was enqueued, in %d tries",
                    TRIES);
    wait_end(b, &w);
    testbed_free(b, y);
}

/* Waits in a queue without work. */
static void idle(testbed *b)
{
    collet_queue *q = testbed_queue(b);
    uint64_t value = testbed_mark(b, q);
    testbed_require(b, try_wait(b, q, value, 0) == COLLET_OK,
                    "queue_wait for the mark of a new queue did not return OK at once");
    testbed_require(b, try_wait(b, q, 0, 0) == COLLET_OK,
                    "queue_wait for 0 did not return OK at once");
    testbed_wait(b, q, value);
    testbed_require(b, testbed_mark(b, q) >= value, "queue_mark decreased");
    testbed_destroy(b, q);
}

typedef struct many {
    testbed *b;
    wait_testbed *w;
    uint64_t values[CHAIN];
    _Atomic int enqueued;
    pthread_mutex_t reading;
} many;

static void wait_or_enqueue(testbed *b, int number, void *user)
{
    many *m = user;
    wait_testbed *w = m->w;
    if (number == 0) {
        for (int i = 0; i < CHAIN; i++) {
            testbed_chain(b, w->worker, w->x, w->one, w->n, 1);
            m->values[i] = testbed_mark(b, w->worker);
            m->enqueued = i + 1;
        }
        return;
    }
    for (int i = number; i < CHAIN; i += 1 + number % 3) {
        while (m->enqueued <= i && !testbed_failed(b))
            (void)try_wait(b, w->worker, 0, 0);
        if (testbed_failed(b))
            return;
        if (number % 2)
            testbed_wait(b, w->worker, m->values[i]);
        while (number % 2 == 0 &&
               testbed_poll(b, w->worker, m->values[i], 3000000) == COLLET_NOT_READY)
            continue;
    }
}

static void one_waits(testbed *b, int number, void *user)
{
    static const int64_t limits[] = {5000000, 3600000000000, 0};
    many *m = user;
    wait_testbed *w = m->w;
    float x = 0;
    if (number % 2)
        while (testbed_poll(b, w->worker, m->values[0], limits[number / 2 % 3]) == COLLET_NOT_READY)
            continue;
    else
        testbed_wait(b, w->worker, m->values[0]);
    if (b->size == 4 && number % 4 < 2) {
        pthread_mutex_lock(&m->reading); /* calls that enqueue in one queue may not overlap */
        collet_status status =
            try_read(b, w->reader, w->x, (uint64_t)((w->n - 1) * b->size), &x, sizeof x);
        pthread_mutex_unlock(&m->reading);
        testbed_require(b, status == COLLET_OK, "buffer_read failed");
        testbed_require(b, (double)x == w->value,
                        "queue_wait of several threads at once returned before the work was done");
    }
}

/* All threads wait for one value, some of them with a limit. None of the waits returns early. */
static void together(testbed *b)
{
    wait_testbed w = wait_begin(b);
    many m = {.w = &w, .reading = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 0; i < 6; i++) {
        m.values[0] = work(b, &w, CHAIN / 2);
        testbed_threads(b, 12, one_waits, &m);
    }
    wait_end(b, &w);
}

/* Many threads wait for different values while another enqueues. */
static void threads(testbed *b)
{
    wait_testbed w = wait_begin(b);
    many m = {.w = &w};
    testbed_threads(b, 13, wait_or_enqueue, &m);
    testbed_expect(b, w.reader, w.x, w.n, CHAIN, "results for which several threads waited");
    wait_end(b, &w);
}

static void *waiter(void *user)
{
    many *m = user;
    testbed_wait(m->b, m->w->worker, m->values[0]);
    return NULL;
}

/* While another thread waits without a limit, a wait with a limit must still return at its
 * limit. */
static void polled_beside(testbed *b)
{
    wait_testbed w = wait_begin(b);
    many m = {.b = b, .w = &w};
    bool returned = false;
    for (int i = 0; i < TRIES && !returned; i++) {
        pthread_t thread;
        int64_t start = testbed_now(), last = start;
        m.values[0] = work(b, &w, WORK(b, i));
        if (pthread_create(&thread, NULL, waiter, &m) != 0)
            testbed_fail(b, "backend-check cannot start a thread");
        while (try_wait(b, w.worker, m.values[0], 0) == COLLET_NOT_READY) {
            last = testbed_now();
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        }
        returned = last - start > (testbed_now() - start) / 2;
        pthread_join(thread, NULL);
        testbed_check(b);
    }
    testbed_require(b, returned,
                    "queue_wait with the limit 0 returned when the work was done, while another "
                    "thread waited without a limit, in %d tries",
                    TRIES);
    wait_end(b, &w);
}

/* Slots whose contract states no wait do not wait for the work of queues. */
static void others(testbed *b)
{
    wait_testbed w = wait_begin(b);
    bool free_to_go = false;
    for (int i = 0; i < TRIES && !free_to_go; i++) {
        collet_memory_stats stats = {.struct_size = sizeof stats};
        uint64_t value = work(b, &w, WORK(b, i));
        void *buffer = testbed_alloc(b, 4096);
        (void)testbed_statistics(b, &stats);
        testbed_reset_peak(b);
        (void)testbed_mark(b, w.reader);
        free_to_go = try_wait(b, w.worker, value, 0) == COLLET_NOT_READY;
        testbed_wait(b, w.worker, value);
        testbed_free(b, buffer);
    }
    testbed_require(b, free_to_go,
                    "buffer_alloc, queue_mark of another queue or the statistics of memory waited "
                    "until the work of a queue was done, in %d tries",
                    TRIES);
    wait_end(b, &w);
}

/* Enqueuing and marking do not wait for a thread that waits, or for the work. */
static void producer(testbed *b)
{
    wait_testbed w = wait_begin(b);
    many m = {.b = b, .w = &w};
    bool free_to_go = false;
    void *y = testbed_numbers(b, w.worker, 64, 0);
    testbed_settle(b, w.worker);
    for (int i = 0; i < TRIES && !free_to_go; i++) {
        pthread_t thread;
        m.values[0] = work(b, &w, WORK(b, i));
        if (pthread_create(&thread, NULL, waiter, &m) != 0)
            testbed_fail(b, "backend-check cannot start a thread");
        (void)try_wait(b, w.worker, m.values[0], 5000000); /* time for the other thread to wait */
        testbed_chain(b, w.worker, y, w.one, 64, 1);
        testbed_after(b, w.reader, w.worker, testbed_mark(b, w.worker));
        unsigned char bytes[16] = {0};
        testbed_write(b, w.worker, y, 0, bytes, sizeof bytes);
        free_to_go = try_wait(b, w.worker, m.values[0], 0) == COLLET_NOT_READY;
        pthread_join(thread, NULL);
        testbed_check(b);
    }
    testbed_require(
        b, free_to_go || w.reader == w.worker,
        "run, buffer_write, queue_mark or queue_after waited until earlier work was done, "
        "in %d tries",
        TRIES);
    wait_end(b, &w);
    testbed_free(b, y);
}

const kit_verb verbs_wait[] = {
    {"wait.early", NEEDS_ADD | NEEDS_QUEUES, early},
    {"wait.polled", NEEDS_ADD | NEEDS_QUEUES, polled},
    {"wait.longest", NEEDS_ADD | NEEDS_QUEUES, longest},
    {"wait.asked", NEEDS_ADD | NEEDS_QUEUES, polled_beside},
    {"wait.limit", NEEDS_ADD | NEEDS_QUEUES, limit},
    {"wait.first", NEEDS_ADD | NEEDS_QUEUES, first},
    {"wait.idle", NEEDS_QUEUES, idle},
    {"wait.threads", NEEDS_ADD | NEEDS_QUEUES, threads},
    {"wait.together", NEEDS_ADD | NEEDS_QUEUES, together},
    {"wait.others", NEEDS_ADD | NEEDS_QUEUES, others},
    {"wait.producer", NEEDS_ADD | NEEDS_QUEUES, producer},
    {0},
};
