/* SPDX-License-Identifier: Apache-2.0 */
/* The thread team of cpu_openmp with far more threads than processors: results, which thread wakes
 * which, and the order of work on a simulated machine of several NUMA nodes. The linker lets
 * functions of this file replace system functions that the team calls. */

#include "common/test.h"
#include "in_child.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cpu_openmp/runtime/team.h"

#define THREADS 64
#define FAN 4 /* number of workers that a thread wakes at a time */

/* ---- Calls of futex -------------------------------------------------------------------------- */

static struct {
    _Atomic int32_t by_caller, by_workers; /* workers woken */
    _Atomic int32_t ends;                  /* how often a worker woke the caller */
} wakes;

static _Atomic int32_t asleep; /* workers */

static pthread_t caller;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

long __wrap_syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number != SYS_futex)
        return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    int32_t count = (int32_t)a[2];
    int command = (int)a[1] & FUTEX_CMD_MASK;
    bool waits = command == FUTEX_WAIT_BITSET || command == FUTEX_WAIT;
    bool of_caller =
        command == FUTEX_WAIT || ((uint32_t)a[5] == FUTEX_BITSET_MATCH_ANY && count == 1);
    atomic_fetch_add(&asleep, waits && !of_caller);
    if (!waits)
        atomic_fetch_add(of_caller                               ? &wakes.ends
                         : pthread_equal(pthread_self(), caller) ? &wakes.by_caller
                                                                 : &wakes.by_workers,
                         count);
    long result = __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (!of_caller)
        atomic_fetch_sub(&asleep, waits ? result < 0 : (int32_t)result);
    return result;
}

static void forget_wakes(void)
{
    caller = pthread_self();
    atomic_store(&wakes.by_caller, 0);
    atomic_store(&wakes.by_workers, 0);
    atomic_store(&wakes.ends, 0);
}

/* ---- Results --------------------------------------------------------------------------------- */

#define ITEMS 3000

/* Each phase computes one row of the table. It reads all parts of the row above. */
typedef struct table {
    int64_t count;
    int32_t row[4][ITEMS];
    int32_t times[4][ITEMS];
} table;

static void make(table *t, int row, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        t->row[row][i] = row ? 3 * t->row[row - 1][t->count - 1 - i] + (int32_t)i : (int32_t)i;
        t->times[row][i]++;
    }
}

static void make_0(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    make(argument, 0, begin, end);
}

static void make_1(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    make(argument, 1, begin, end);
}

static void make_2(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    make(argument, 2, begin, end);
}

static void make_3(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    make(argument, 3, begin, end);
}

static bool results_are_right(int32_t threads, int64_t count, int64_t grain)
{
    static table got, expected;
    team_phase phases[] = {{make_0, count, grain, 0},
                           {make_1, count, 2 * grain, 0},
                           {make_2, count, 1, 1},
                           {make_3, count, count, 1}};
    memset(&got, 0, sizeof got);
    memset(&expected, 0, sizeof expected);
    got.count = expected.count = count;
    for (int row = 0; row < 4; row++)
        make(&expected, row, 0, count);
    team_run_phases(threads, phases, 4, &got);
    return memcmp(&got, &expected, sizeof got) == 0;
}

static bool all_results_are_right(void)
{
    static const int64_t counts[] = {1, 2, 3, 63, 64, 65, 511, 512, 513, 1000, ITEMS};
    static const int32_t threads[] = {THREADS, 2, 65, 192, 7, 1024};
    bool right = true;
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (int64_t grain = 1; grain <= 100; grain *= 7)
                right &= results_are_right(threads[t], counts[c], grain);
        }
    }
    return right;
}

TEST(test_results)
{
    assert_true(in_child(all_results_are_right));
}

/* ---- Waking ---------------------------------------------------------------------------------- */

static void doze_here(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    doze(1);
}

static void nothing(void *argument, int32_t thread, int64_t begin, int64_t end)
{
}

/* Runs a phase with work for `useful` threads. The caller must wake only a few workers. All threads
 * together must wake at most useful - 1 workers, and one thread must wake the caller. Returns the
 * number of workers woken; -1: too many. */
static int32_t woken(team_body body, int32_t useful)
{
    forget_wakes();
    team_run(THREADS, useful, 1, body, NULL);
    int32_t others = useful - 1, total = wakes.by_caller + wakes.by_workers;
    bool few =
        wakes.by_caller <= (others < FAN ? others : FAN) && total <= others && wakes.ends <= 1;
    return few ? total : -1;
}

static bool wakes_are_few(void)
{
    for (int i = 0; i < 500; i++) {
        if (woken(nothing, 1 + i % THREADS) < 0)
            return false;
    }
    for (int useful = 1; useful <= THREADS; useful++) {
        doze(useful % 4); /* most sleep */
        if (woken(useful % 2 ? doze_here : nothing, useful) < 0)
            return false;
    }
    return true;
}

TEST(test_wakes_are_few)
{
    assert_true(in_child(wakes_are_few));
}

/* One success in several tries suffices, because other programs may delay some threads. */
static bool everyone_is_woken(void)
{
    int32_t total = 0;
    for (int i = 0; i < 200 && total >= 0 && total < THREADS - 1; i++) {
        doze(10);
        total = woken(doze_here, THREADS);
    }
    return total == THREADS - 1;
}

TEST(test_everyone_is_woken)
{
    assert_true(in_child(everyone_is_woken));
}

static int64_t microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Calls 0.1 ms apart, with work for only one of two workers. Eventually (other programs may delay
 * the threads) one worker spins between the calls, and the other worker sleeps during 30 calls. */
static bool nobody_is_woken(void)
{
    int64_t end = microseconds() + 20000000;
    int quiet = 0;
    while (quiet < 30 && microseconds() < end) {
        int64_t next = microseconds() + 100;
        bool sleeps = atomic_load(&asleep) == 1;
        forget_wakes();
        team_run(3, 2, 1, nothing, NULL);
        quiet = wakes.by_caller + wakes.by_workers == 0 ? quiet + sleeps : 0;
        while (microseconds() < next) {
        }
    }
    return quiet == 30;
}

TEST(test_nobody_is_woken_without_need)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
        skip();
    assert_true(in_child(nobody_is_woken));
}
