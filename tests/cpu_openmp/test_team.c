/* SPDX-License-Identifier: Apache-2.0 */
/* The thread team of cpu_openmp: pieces, concurrent calls, fork, and the host's OpenMP settings. */

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "common/test.h"
#include "cpu_openmp/runtime/load.h"
#include "cpu_openmp/runtime/team.h"
#include "in_child.h"

/* ---- Items and pieces ------------------------------------------------------------------------ */

#define ITEMS 1000
#define THREADS 64
#define PLACE 1 /* the processor of worker 1 */

typedef struct record {
    _Atomic int32_t times[ITEMS];
    _Atomic int32_t pieces, smallest;
    _Atomic int32_t inside[THREADS]; /* how many bodies run with this thread number now */
    _Atomic int32_t twice;           /* how often two bodies had the same thread number at once */
} record;

static void note(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    record *r = argument;
    int32_t items = (int32_t)(end - begin), smallest = atomic_load(&r->smallest);
    assert_in_range(thread, 0, THREADS - 1);
    atomic_fetch_add(&r->twice, atomic_fetch_add(&r->inside[thread], 1) != 0);
    atomic_fetch_add(&r->pieces, 1);
    while (items < smallest && !atomic_compare_exchange_weak(&r->smallest, &smallest, items)) {
    }
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&r->times[i], 1);
    atomic_fetch_sub(&r->inside[thread], 1);
}

/* Checks that every item is done once, that thread numbers are below `threads`, and that no two
 * bodies have the same number at once. Returns the number of pieces. */
static int pieces_of(int32_t threads, int64_t count, int64_t grain)
{
    static record r;
    memset(&r, 0, sizeof r);
    atomic_store(&r.smallest, ITEMS);
    team_run(threads, count, grain, note, &r);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(i < count, atomic_load(&r.times[i]));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(0, atomic_load(&r.inside[i]));
    assert_int_equal(0, atomic_load(&r.twice));
    assert_true(count == 0 || atomic_load(&r.smallest) >= (grain < count ? grain : count));
    return atomic_load(&r.pieces);
}

TEST(test_pieces)
{
    assert_int_equal(0, pieces_of(4, 0, 1));
    assert_int_equal(1, pieces_of(1, ITEMS, 1));
    assert_int_equal(3, pieces_of(4, 3, 1));
    assert_in_range(pieces_of(4, ITEMS, 1), 8, 64);
    for (int64_t count = 1; count < 200; count++)
        (void)pieces_of(1 + (int32_t)(count % 7), count, 1 + count % 5);
}

TEST(test_grain)
{
    assert_int_equal(1, pieces_of(4, 999, 500));
    assert_int_equal(2, pieces_of(4, ITEMS, 500));
    assert_int_equal(1, pieces_of(4, ITEMS, INT64_MAX));
}

/* Teams of more threads than processors, larger and smaller than the team of the previous call. */
TEST(test_many_threads)
{
    for (int i = 0; i < 300; i++) {
        (void)pieces_of(THREADS, ITEMS, 1);
        (void)pieces_of(2 + i % 5, ITEMS, 1 + i % 3);
    }
}

/* ---- Phases ---------------------------------------------------------------------------------- */

/* Phases of 8 items (the first item is slow), of 3, of none and of 8. */
typedef struct sequence {
    _Atomic int32_t first, second, third;
    _Atomic int32_t early; /* items begun before the previous phase was complete */
} sequence;

static void do_first(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    sequence *s = argument;
    if (begin == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    atomic_fetch_add(&s->first, (int32_t)(end - begin));
}

static void do_second(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    sequence *s = argument;
    atomic_fetch_add(&s->early, atomic_load(&s->first) != 8);
    if (begin == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    atomic_fetch_add(&s->second, (int32_t)(end - begin));
}

static void do_third(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    sequence *s = argument;
    atomic_fetch_add(&s->early, atomic_load(&s->second) != 3);
    atomic_fetch_add(&s->third, (int32_t)(end - begin));
}

TEST(test_phases_follow_each_other)
{
    static const team_phase phases[] = {
        {do_first, 8, 1, 0}, {do_second, 3, 1, 0}, {do_first, 0, 1, 0}, {do_third, 8, 1, 0}};
    static const int32_t threads[] = {1, 2, 4};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        sequence s = {0};
        team_run_phases(threads[i], phases, 4, &s);
        assert_int_equal(8, atomic_load(&s.first));
        assert_int_equal(3, atomic_load(&s.second));
        assert_int_equal(8, atomic_load(&s.third));
        assert_int_equal(0, atomic_load(&s.early));
    }
}

/* ---- Distribution of pieces -------------------------------------------------------------------
 */

/* One worker gets stuck in its first piece. The other threads do all other pieces meanwhile. */
typedef struct obstacle {
    _Atomic int32_t stuck, others, most;
} obstacle;

static void stumble(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    obstacle *o = argument;
    if (thread != 0 && atomic_exchange(&o->stuck, 1) == 0) {
        for (int i = 0; i < 2000 && atomic_load(&o->others) < atomic_load(&o->most); i++)
            doze(1);
        return;
    }
    if (thread == 0 && atomic_load(&o->others) == 0) {
        while (!atomic_load(&o->stuck)) /* until a worker is stuck */
            sched_yield();
    }
    atomic_fetch_add(&o->others, 1);
}

TEST(test_nobody_waits_for_pieces_that_can_be_taken)
{
    for (int32_t threads = 2; threads <= 4; threads++) {
        obstacle o = {.most = pieces_of(threads, ITEMS, 1) - 1};
        team_run(threads, ITEMS, 1, stumble, &o);
        assert_int_equal(atomic_load(&o.most), atomic_load(&o.others));
    }
}

/* A call on `threads` threads that holds them until it is released. */
typedef struct holder {
    int32_t threads;
    _Atomic int32_t inside, released;
} holder;

static void hold(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    holder *h = argument;
    atomic_fetch_add(&h->inside, 1);
    while (!atomic_load(&h->released))
        doze(1);
}

static void *run_holder(void *argument)
{
    holder *h = argument;
    team_run(h->threads, h->threads, 1, hold, h);
    return NULL;
}

/* Counts the threads that work on pieces at the same time. Each thread waits until the expected number
 * of threads has arrived (for some seconds at most), and then 20 ms for a further thread. */
typedef struct crowd {
    int32_t expected;
    _Atomic int32_t now, most, patience;
} crowd;

static void gather(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    crowd *c = argument;
    int32_t here = atomic_fetch_add(&c->now, 1) + 1, most = atomic_load(&c->most);
    while (here > most && !atomic_compare_exchange_weak(&c->most, &most, here)) {
    }
    while (atomic_load(&c->most) < c->expected && atomic_fetch_sub(&c->patience, 1) > 0)
        doze(1);
    doze(20);
    atomic_fetch_sub(&c->now, 1);
}

/* The number of threads that work in a call with this many pieces on 4 threads. */
static int threads_of(int32_t pieces, int32_t expected)
{
    crowd c = {.expected = expected, .patience = 20000};
    team_run(4, pieces, 1, gather, &c);
    return atomic_load(&c.most);
}

/* Like threads_of, while another call occupies `held` threads. */
static int threads_during(int32_t held, int32_t pieces, int32_t expected)
{
    holder h = {.threads = held};
    pthread_t thread;
    assert_int_equal(0, pthread_create(&thread, NULL, run_holder, &h));
    while (atomic_load(&h.inside) < held)
        doze(1);
    int threads = threads_of(pieces, expected);
    atomic_store(&h.released, 1);
    assert_int_equal(0, pthread_join(thread, NULL));
    return threads;
}

TEST(test_two_callers_share_the_threads)
{
    static const struct {
        int32_t held, pieces, threads;
    } cases[] = {{4, 4, 1}, {3, 4, 1}, {2, 4, 2}, {2, 2, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cases[i].threads,
                         threads_during(cases[i].held, cases[i].pieces, cases[i].threads));
}

TEST(test_threads_come_back)
{
    for (int i = 0; i < 5; i++) {
        assert_int_equal(1, threads_during(4, 4, 1));
        assert_int_equal(4, threads_of(16, 4));
    }
}

static void add_items(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    atomic_fetch_add((_Atomic int64_t *)argument, end - begin);
}

static int64_t call_once(void)
{
    _Atomic int64_t sum = 0;
    team_run(4, ITEMS, 10, add_items, &sum);
    return atomic_load(&sum);
}

static void *call_often(void *argument)
{
    for (int i = 0; i < 2000; i++)
        assert_int_equal(ITEMS, call_once());
    return NULL;
}

/* More callers than the team has threads, and more than it has jobs. */
TEST(test_many_callers)
{
    pthread_t threads[48];
    for (int i = 0; i < 48; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, call_often, NULL));
    for (int i = 0; i < 48; i++)
        assert_int_equal(0, pthread_join(threads[i], NULL));
}

/* ---- Brief loops ----------------------------------------------------------------------------- */

/* A loop whose pieces take a given time, with the counts of the pieces that the caller and the
 * workers did. */
typedef struct shares {
    int64_t nanoseconds;
    _Atomic int32_t of_caller, of_workers;
} shares;

static void take_time(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    shares *s = argument;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t until = now.tv_sec * 1000000000 + now.tv_nsec + s->nanoseconds;
    do
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec * 1000000000 + now.tv_nsec < until);
    atomic_fetch_add(thread == 0 ? &s->of_caller : &s->of_workers, (int32_t)(end - begin));
}

/* After a pause, runs `loops` loops one after another. They are announced as brief. */
static shares do_briefly(int64_t nanoseconds, int32_t pieces, int loops)
{
    shares s = {.nanoseconds = nanoseconds};
    doze(5);
    for (int i = 0; i < loops; i++)
        team_run_phases(2, &(team_phase){take_time, pieces, 1, 1}, 1, &s);
    assert_int_equal(loops * pieces, s.of_caller + s.of_workers);
    return s;
}

/* How often threads of this process fell asleep. */
static long sleeps(void)
{
    struct rusage r;
    assert_int_equal(0, getrusage(RUSAGE_SELF, &r));
    return r.ru_nvcsw;
}

/* After a pause a brief loop wakes no worker. A loop that takes longer than announced wakes workers, and so do
 * several successive loops. Each behaviour must occur at least once in several tries: other programs may delay
 * threads. */
TEST(test_brief_loops)
{
    int alone = 0, long_ones = 0, followed = 0, wrong = 0;
    team_run(2, 2, 1, take_time, &(shares){.nanoseconds = 1000});
    for (int i = 0; i < 10; i++) {
        long_ones += do_briefly(1000000, 15, 1).of_workers > 0;
        followed += do_briefly(1000, 15, 20).of_workers > 0;
        wrong += do_briefly(300000, 2, 20).of_workers > 0; /* one piece a thread: too late */
        doze(5);
        long before = sleeps();
        for (int k = 0; k < 10; k++)
            (void)do_briefly(100, 15, 1);
        doze(5);
        alone += sleeps() - before < 15; /* 11 of the caller */
    }
    assert_in_range(alone, 1, 10);
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
        assert_true(long_ones > 0 && followed > 0 && wrong > 0);
}

/* Idle threads go to sleep within 2 ms, in at least one of several tries (other programs may delay
 * them), and work again in the next call. */
TEST(test_idle_threads_sleep)
{
    double smallest = 1;
    for (int i = 0; i < 10; i++) {
        (void)call_often(NULL);
        doze(2);
        double before = test_seconds(CLOCK_PROCESS_CPUTIME_ID);
        doze(100);
        double used = test_seconds(CLOCK_PROCESS_CPUTIME_ID) - before;
        smallest = used < smallest ? used : smallest;
    }
    assert_true(smallest < 1e-3);
}

/* A signal to the process interrupts no worker: workers block all signals. */
static void look_at_signals(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    assert_int_equal(thread != 0, sigismember(&blocked, SIGUSR1));
}

TEST(test_workers_block_signals)
{
    team_run(4, ITEMS, 1, look_at_signals, NULL);
}

/* ---- fork -------------------------------------------------------------------------------------
 */

static _Atomic int32_t stop_calls;

static void *call_until_stopped(void *argument)
{
    while (!atomic_load(&stop_calls))
        (void)call_once();
    return NULL;
}

/* Children of a process whose other threads are in calls start their own team. */
TEST(test_children)
{
    pthread_t threads[3];
    (void)pieces_of(4, ITEMS, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(0, pthread_create(&threads[i], NULL, call_until_stopped, NULL));
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(60);
            int right = 1;
            for (int k = 0; k < 20; k++)
                right &= call_once() == ITEMS;
            _exit(right ? 0 : 1);
        }
        int status;
        (void)call_once();
        assert_int_equal(child, waitpid(child, &status, 0));
        assert_int_equal(0, status);
    }
    atomic_store(&stop_calls, 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(0, pthread_join(threads[i], NULL));
}

/* ---- Settings of OpenMP ------------------------------------------------------------------------
 */

TEST(test_number_of_threads)
{
    static const struct {
        const char *text;
        int32_t threads;
    } cases[] = {{"3", 3}, {"1", 1}, {"5,2", 5}, {"9", 8}, {"0", 8}, {"-1", 8}, {"", 8}, {"x", 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("OMP_NUM_THREADS", cases[i].text, 1);
        assert_int_equal(cases[i].threads, team_threads(8));
    }
    unsetenv("OMP_NUM_THREADS");
    assert_int_equal(8, team_threads(8));
}

/* Runs in a child process, which an argument of main selects: checks on which processors its
 * workers may run. */
static void look_at_processors(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    cpu_set_t set;
    assert_int_equal(0, pthread_getaffinity_np(pthread_self(), sizeof set, &set));
    if (thread == 1 && CPU_COUNT(&set) == 1)
        atomic_store((_Atomic int32_t *)argument, CPU_ISSET(PLACE, &set) ? 1 : 2);
    doze(1);
}

static void run_child(const char *argument)
{
    char self[4096] = {0};
    int status;
    if (sysconf(_SC_NPROCESSORS_ONLN) <= PLACE)
        skip();
    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    pid_t child = fork();
    if (child == 0) {
        execl(self, self, argument, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_int_equal(0, status);
}

TEST(test_omp_places)
{
    setenv("OMP_PLACES", "{0},{1}", 1);
    setenv("OMP_PROC_BIND", "close", 1);
    run_child("places");
    unsetenv("OMP_PLACES");
    unsetenv("OMP_PROC_BIND");
}

static int places_main(void)
{
    _Atomic int32_t seen = 0;
    for (int i = 0; i < 1000 && !atomic_load(&seen); i++)
        team_run(2, 16, 1, look_at_processors, &seen);
    return atomic_load(&seen) == 1 ? 0 : 1;
}

/* The thread that made the first call has bound itself to one processor. Workers are not bound to
 * this processor. */
static void look_at_affinity(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    cpu_set_t set;
    assert_int_equal(0, pthread_getaffinity_np(pthread_self(), sizeof set, &set));
    if (thread != 0)
        atomic_store((_Atomic int32_t *)argument, CPU_COUNT(&set));
    doze(1);
}

static void *call_from_one_processor(void *argument)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(PLACE, &one);
    if (pthread_setaffinity_np(pthread_self(), sizeof one, &one) == 0)
        for (int i = 0; i < 1000 && !atomic_load((_Atomic int32_t *)argument); i++)
            team_run(2, 16, 1, look_at_affinity, argument);
    return NULL;
}

static int affinity_main(void)
{
    _Atomic int32_t processors = 0;
    cpu_set_t all;
    pthread_t thread;
    if (sched_getaffinity(0, sizeof all, &all) != 0 ||
        pthread_create(&thread, NULL, call_from_one_processor, &processors) != 0 ||
        pthread_join(thread, NULL) != 0)
        return 2;
    return atomic_load(&processors) == CPU_COUNT(&all) ? 0 : 1;
}

TEST(test_a_bound_caller_binds_no_workers)
{
    run_child("affinity");
}

static void look_at_slice(void *argument, int32_t thread, int64_t begin, int64_t end)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes;
    if (thread == 1 && syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0)
        atomic_store((_Atomic int64_t *)argument, (int64_t)attributes.runtime);
    doze(1);
}

/* Workers request a short time slice from the scheduler, so that a woken worker interrupts other
 * threads. Linux before 6.12 does not support this and reports 0. */
TEST(test_workers_have_short_slices)
{
    _Atomic int64_t slice = -1;
    for (int i = 0; i < 1000 && atomic_load(&slice) < 0; i++)
        team_run(2, 16, 1, look_at_slice, &slice);
    assert_true(atomic_load(&slice) == 0 || atomic_load(&slice) == 100000);
}

/* ---- The host's own OpenMP ------------------------------------------------------------------- */

TEST(test_settings_stay)
{
    omp_set_num_threads(5);
    omp_set_dynamic(0);
    int levels = omp_get_max_active_levels();
    (void)pieces_of(3, ITEMS, 1);
    assert_int_equal(5, omp_get_max_threads());
    assert_int_equal(levels, omp_get_max_active_levels());
    assert_int_equal(0, omp_get_dynamic());
}

TEST(test_inside_a_region_of_the_host)
{
    _Atomic int32_t done = 0;
#pragma omp parallel num_threads(3)
    {
        record r = {.pieces = 0};
        team_run(4, ITEMS, 1, note, &r);
        int complete = 1;
        for (int i = 0; i < ITEMS; i++)
            complete &= atomic_load(&r.times[i]) == 1;
        atomic_fetch_add(&done, complete);
    }
    assert_int_equal(3, atomic_load(&done));
}

static void *spin_for_ever(void *unused)
{
    for (;;)
        atomic_signal_fence(memory_order_seq_cst);
    return unused;
}

/* load_is_crowded in a child process, which has no workers: false for one thread on one processor; true for three
 * threads on two processors; false for three threads on three processors, or on two if two of them are workers. */
static bool crowds_as_threads_spin(void)
{
    bool alone = load_is_crowded(1, 0), started = true;
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        started &= pthread_create(&thread, NULL, spin_for_ever, NULL) == 0;
    doze(10);
    return started && !alone && load_is_crowded(2, 0) && !load_is_crowded(2, 2) &&
           !load_is_crowded(3, 0);
}

TEST(test_threads_crowd_the_processors)
{
    assert_true(in_child(crowds_as_threads_spin));
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "places") == 0)
        return places_main();
    if (argc > 1 && strcmp(argv[1], "affinity") == 0)
        return affinity_main();
    return test_run();
}
