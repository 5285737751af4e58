/* SPDX-License-Identifier: Apache-2.0 */
/* The thread team of cpu_openmp: threads of concurrent calls, and the host's OpenMP settings. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "cpu_openmp/runtime/team.h"

/* ---- Items and parts ------------------------------------------------------------------------- */

#define ITEMS 1000

typedef struct record {
    _Atomic int32_t times[ITEMS];
    _Atomic int32_t parts;
    _Atomic int32_t largest_thread;
} record;

static void note(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    record *r = argument;
    atomic_fetch_add(&r->parts, 1);
    int32_t largest = atomic_load(&r->largest_thread);
    while (thread > largest &&
           !atomic_compare_exchange_weak(&r->largest_thread, &largest, thread)) {
    }
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&r->times[i], 1);
}

/* Checks that every item is done once; returns the number of parts. */
static int parts_of(int32_t threads, int64_t count, int64_t grain)
{
    static record r;
    for (int i = 0; i < ITEMS; i++)
        atomic_store(&r.times[i], 0);
    atomic_store(&r.parts, 0);
    atomic_store(&r.largest_thread, 0);
    team_run(threads, count, grain, note, &r);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(i < count, atomic_load(&r.times[i]));
    assert_true(atomic_load(&r.largest_thread) < threads);
    return atomic_load(&r.parts);
}

static void test_parts(void **state)
{
    (void)state;
    assert_int_equal(0, parts_of(4, 0, 1));
    assert_int_equal(1, parts_of(1, ITEMS, 1));
    assert_int_equal(4, parts_of(4, ITEMS, 1));
    assert_int_equal(3, parts_of(4, 3, 1));
    assert_int_equal(7, parts_of(7, ITEMS, 1));
}

static void test_grain(void **state)
{
    (void)state;
    assert_int_equal(1, parts_of(4, 999, 500));
    assert_int_equal(2, parts_of(4, ITEMS, 500));
    assert_int_equal(1, parts_of(4, ITEMS, INT64_MAX));
}

/* ---- Phases ---------------------------------------------------------------------------------- */

/* Phases of 8 items, the first of them slow, of 3, of none and of 8. */
typedef struct sequence {
    _Atomic int32_t first, second, third;
    _Atomic int32_t early; /* items begun before the previous phase was complete */
} sequence;

static void do_first(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    sequence *s = argument;
    (void)thread;
    if (begin == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    atomic_fetch_add(&s->first, (int32_t)(end - begin));
}

static void do_second(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    sequence *s = argument;
    (void)thread;
    atomic_fetch_add(&s->early, atomic_load(&s->first) != 8);
    if (begin == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    atomic_fetch_add(&s->second, (int32_t)(end - begin));
}

static void do_third(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    sequence *s = argument;
    (void)thread;
    atomic_fetch_add(&s->early, atomic_load(&s->second) != 3);
    atomic_fetch_add(&s->third, (int32_t)(end - begin));
}

static void test_phases_follow_each_other(void **state)
{
    static const team_phase phases[] = {
        {do_first, 8, 1}, {do_second, 3, 1}, {do_first, 0, 1}, {do_third, 8, 1}};
    static const int32_t threads[] = {1, 2, 4};
    (void)state;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        sequence s = {0};
        team_run_phases(threads[i], phases, 4, &s);
        assert_int_equal(8, atomic_load(&s.first));
        assert_int_equal(3, atomic_load(&s.second));
        assert_int_equal(8, atomic_load(&s.third));
        assert_int_equal(0, atomic_load(&s.early));
    }
}

/* ---- Two callers ----------------------------------------------------------------------------- */

/* A call on `threads` threads that runs until it is released. */
typedef struct holder {
    int32_t threads;
    _Atomic int32_t inside;
    _Atomic int32_t released;
} holder;

static void hold(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    holder *h = argument;
    (void)thread;
    (void)begin;
    (void)end;
    atomic_fetch_add(&h->inside, 1);
    while (!atomic_load(&h->released))
        sched_yield();
}

static void *run_holder(void *argument)
{
    holder *h = argument;
    team_run(h->threads, h->threads, 1, hold, h);
    return NULL;
}

/* The parts of a call that requests `requested` of 4 threads while another call holds `held`. */
static int parts_during(int32_t held, int32_t requested)
{
    holder h = {.threads = held};
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, run_holder, &h));
    while (atomic_load(&h.inside) < held)
        sched_yield();
    int parts = parts_of(4, requested, 1);
    atomic_store(&h.released, 1);
    assert_int_equal(0, pthread_join(thread, NULL));
    return parts;
}

static void test_two_callers_share_the_threads(void **state)
{
    (void)state;
    assert_int_equal(1, parts_during(4, 4));
    assert_int_equal(1, parts_during(3, 4));
    assert_int_equal(2, parts_during(2, 4));
    assert_int_equal(2, parts_during(2, 2));
}

static void test_threads_come_back(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        (void)parts_during(4, 4);
        assert_int_equal(4, parts_of(4, ITEMS, 1));
    }
}

/* ---- The host's own OpenMP ------------------------------------------------------------------- */

static void test_settings_stay(void **state)
{
    (void)state;
    omp_set_num_threads(5);
    omp_set_dynamic(0);
    int levels = omp_get_max_active_levels();
    assert_int_equal(3, parts_of(3, ITEMS, 1));
    assert_int_equal(5, omp_get_max_threads());
    assert_int_equal(levels, omp_get_max_active_levels());
    assert_int_equal(0, omp_get_dynamic());
}

static void test_inside_a_region_of_the_host(void **state)
{
    (void)state;
    _Atomic int32_t done = 0;
#pragma omp parallel num_threads(3)
    {
        record r = {.parts = 0};
        team_run(4, ITEMS, 1, note, &r);
        int complete = 1;
        for (int i = 0; i < ITEMS; i++)
            complete &= atomic_load(&r.times[i]) == 1;
        atomic_fetch_add(&done, complete);
    }
    assert_int_equal(3, atomic_load(&done));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_grain),
        cmocka_unit_test(test_phases_follow_each_other),
        cmocka_unit_test(test_two_callers_share_the_threads),
        cmocka_unit_test(test_threads_come_back),
        cmocka_unit_test(test_settings_stay),
        cmocka_unit_test(test_inside_a_region_of_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
