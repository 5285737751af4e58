/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_team.c, tests/cpu_openmp/test_many_threads.c,
 * tests/cpu_openmp/test_nodes.c */
#include "team.h"

#include "job.h"
#include "limit.h"
#include "load.h"
#include "migrate.h"
#include "nodes.h"
#include "places.h"
#include "wait.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <collet/floating.h>

/* A caller owns one job of the table for the time of its call. */
#define JOBS 32      /* the most calls that share the team at a time; further calls use only their own thread */
#define WORKERS 1024 /* the maximum number of workers */
#define FAN 4        /* workers that one thread wakes at a time */
#define LINE 64
#define SLEEP_WORDS (WORKERS / 32)

#ifndef NODES_DIRECTORY /* a test defines it */
#define NODES_DIRECTORY "/sys/devices/system/node"
#endif

/* Nanoseconds. */
#define CALLER_SPIN 4000 /* time that a caller spins for pieces that others run */
#define SPIN_MAX 600000  /* longest time that a worker spins for the next call */
#define GAP_MAX 250000   /* if calls are usually further apart, workers spin only briefly */
#define BRIEF_MAX 40000  /* time after which the caller of a brief loop wakes workers */
#define CROWD_WAIT 150000 /* the same while the program's threads crowd the processors */
#define CROWD_KEPT 100000000 /* time after which the result of look() is out of date */
#define LOOK_AFTER 10000000  /* time after which an idle worker looks again: see look() */
#define WAKE_MIN 2000
#define WAKE_MAX 50000
#define NOW 0 /* for a wake-up */
#define NEVER INT64_MAX
#define STALL_MIN 50000 /* waiting time after which the caller moves a worker that has no processor */
#define STALL_MAX 20000000

/* The one team of the process. After fork() the child has a copy without threads: see forget. */
static struct {
    _Alignas(LINE) _Atomic uint32_t calls;   /* grows with each phase */
    _Alignas(LINE) _Atomic uint32_t owned;   /* jobs that a caller owns, one bit each */
    _Alignas(LINE) _Atomic int32_t active;   /* callers in calls and workers with pieces */
    _Atomic int32_t refused;                 /* `threads` of the last call that refused a worker; 0: none */
    _Alignas(LINE) _Atomic int32_t spinning; /* idle workers that do not sleep */
    _Alignas(LINE) _Atomic uint32_t asleep[SLEEP_WORDS]; /* a bit for each worker; the words are futexes */
    _Atomic int64_t woken_at;  /* when workers were last woken, in nanoseconds */
    _Atomic int64_t missed_at; /* when a brief loop last found no worker awake, or took too long */
    _Atomic int64_t looked_at; /* when an idle worker last looked whether the processors are crowded */
    _Atomic bool crowded;      /* whether they were */
    _Alignas(LINE) _Atomic int32_t workers; /* started */
    _Atomic int32_t tried;                  /* the most threads that grow() has been called for */
    pthread_mutex_t growing;
    bool forks_known;
    cpu_set_t processors; /* the processors of the process when this plugin was loaded; empty: unknown */
    /* Constant while there are workers. */
    places places;
    nodes nodes; /* the nodes of `processors`, if there are no places */
    job jobs[JOBS];
    struct {
        _Alignas(LINE) _Atomic pid_t id; /* the thread's id; 0: not started */
        _Atomic int32_t job;             /* job whose pieces it runs, from 1; 0: none */
    } members[WORKERS];
} team = {.growing = PTHREAD_MUTEX_INITIALIZER};

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* ---- Waking --------------------------------------------------------------------------------- */

/* Wakes the first `count` of the sleeping workers whose numbers are below `threads`. */
static void wake(int32_t count, int32_t threads)
{
    for (int32_t first = 0; first < threads; first += 32) {
        _Atomic uint32_t *word = &team.asleep[first / 32];
        uint32_t below = threads - first < 32 ? (1u << (threads - first)) - 1 : ~0u, bits;
        while (count > 0 && (bits = atomic_load_explicit(word, memory_order_seq_cst) & below)) {
            uint32_t chosen = 0;
            for (int32_t i = 0; bits && i < count; i++, bits &= bits - 1)
                chosen |= bits & -bits;
            chosen &= atomic_fetch_and_explicit(word, ~chosen, memory_order_seq_cst);
            if (!chosen)
                continue; /* others woke them */
            atomic_store_explicit(&team.woken_at, clock_now(), memory_order_relaxed);
            futex_wake(word, __builtin_popcount(chosen), chosen);
            count -= __builtin_popcount(chosen);
        }
    }
}

/* Sleeps until another thread wakes the worker, then returns true. Returns false without sleeping if `calls` is no
 * longer `seen`. */
static bool sleep_until_woken(int32_t thread, uint32_t seen)
{
    _Atomic uint32_t *word = &team.asleep[thread / 32];
    uint32_t bit = 1u << thread % 32, value;
    atomic_fetch_or_explicit(word, bit, memory_order_seq_cst);
    if (atomic_load_explicit(&team.calls, memory_order_seq_cst) != seen &&
        atomic_fetch_and_explicit(word, ~bit, memory_order_seq_cst) & bit)
        return false;
    while ((value = atomic_load_explicit(word, memory_order_acquire)) & bit)
        futex_wait(word, value, bit);
    return true;
}

/* ---- Pieces --------------------------------------------------------------------------------- */

/* Wakes some of the workers that a job needs, if there are pieces for them. These workers wake further workers. */
static void wake_some(job *j, int32_t index, int32_t threads)
{
    int32_t to_wake = atomic_load_explicit(&j->to_wake, memory_order_relaxed), count;
    do {
        count = to_wake < FAN ? to_wake : FAN;
        if (count <= 0)
            return;
    } while (!atomic_compare_exchange_weak_explicit(&j->to_wake, &to_wake, to_wake - count,
                                                    memory_order_relaxed, memory_order_relaxed));
    wake(job_left(j, index, count), threads);
}

/* Whether the program's threads crowded the processors when a worker last looked (see look); false if it looked long
 * ago. */
static bool is_crowded(void)
{
    return atomic_load_explicit(&team.crowded, memory_order_relaxed) &&
           clock_now() - atomic_load_explicit(&team.looked_at, memory_order_relaxed) < CROWD_KEPT;
}

/* The time at which the caller of a job wakes workers: NOW, or later. A brief loop that soon follows another brief loop
 * wakes workers now: more loops are likely to come, and the workers will spin for them. While the program's threads
 * crowd the processors, no worker spins, and a worker that is woken takes the processor of another thread. */
static int64_t wake_time(const team_phase *phase, int32_t spinning)
{
    if (!phase->brief || spinning > 0)
        return NOW;
    int64_t now = clock_now();
    int64_t before = atomic_exchange_explicit(&team.missed_at, now, memory_order_relaxed);
    return is_crowded() ? now + CROWD_WAIT : now - before < GAP_MAX ? NOW : now + BRIEF_MAX;
}

/* Calls up to `count` idle workers for pieces of a job. Returns the time from which the caller must wake workers; NEVER
 * if it need not. */
static int64_t call(job *j, const team_phase *phase, int32_t count, int32_t threads)
{
    atomic_fetch_add_explicit(&team.calls, 1, memory_order_seq_cst);
    int32_t spinning = atomic_load_explicit(&team.spinning, memory_order_seq_cst);
    if (threads > atomic_load_explicit(&team.workers, memory_order_relaxed))
        count -= spinning;
    int64_t when = count > 0 ? wake_time(phase, spinning) : NEVER;
    atomic_store_explicit(&j->to_wake, count, memory_order_relaxed);
    if (when != NOW)
        return when;
    wake_some(j, 0, threads);
    return NEVER; /* the woken workers wake the others */
}

/* Makes libraries that a body calls use only the calling worker. omp_set_num_threads is the only
 * function of OpenMP that a worker calls. The worker calls it only while a caller waits for the
 * worker's piece, because at the end of the program a worker outlasts the OpenMP runtime. */
static void limit_libraries(void)
{
    static _Thread_local bool limited;
    if (!limited)
        omp_set_num_threads(1);
    limited = true;
}

/* Runs pieces of part `index` and returns their number. After the first piece it continues only while at most `threads`
 * threads are active. From time `when` on, wakes workers. Reports all pieces at once, because all threads write the
 * cache line of `done`. */
static uint32_t run_part(job *j, int32_t index, int32_t thread, int32_t threads, int64_t when)
{
    uint32_t ran = 0;
    int32_t piece;
    while ((ran == 0 || atomic_load_explicit(&team.active, memory_order_relaxed) <= threads) &&
           (piece = job_take(j, index, thread)) >= 0) {
        if (thread > 0 && ran == 0)
            limit_libraries();
        if (when == NOW || (when != NEVER && clock_now() >= when))
            wake_some(j, index, atomic_load_explicit(&j->threads, memory_order_relaxed));
        job_run(j, index, piece, thread);
        ran++;
    }
    if (ran > 0)
        job_report(j, ran);
    return ran;
}

/* ---- Number of active threads --------------------------------------------------------------- */

static bool try_join(int32_t threads)
{
    int32_t active = atomic_load_explicit(&team.active, memory_order_seq_cst);
    while (active < threads) {
        if (atomic_compare_exchange_weak_explicit(&team.active, &active, active + 1,
                                                  memory_order_seq_cst, memory_order_relaxed))
            return true;
    }
    return false;
}

/* Makes the calling thread active if fewer than `threads` threads are active. Otherwise the next thread that stops
 * wakes idle workers. */
static bool join(int32_t threads)
{
    if (try_join(threads))
        return true;
    atomic_store_explicit(&team.refused, threads, memory_order_seq_cst);
    return try_join(threads);
}

static void stopped(void)
{
    if (atomic_load_explicit(&team.refused, memory_order_seq_cst)) {
        int32_t threads = atomic_exchange_explicit(&team.refused, 0, memory_order_seq_cst);
        atomic_fetch_add_explicit(&team.calls, 1, memory_order_seq_cst);
        wake(WORKERS, threads);
    }
}

static void stop(void)
{
    atomic_fetch_sub_explicit(&team.active, 1, memory_order_seq_cst);
    stopped();
}

/* If more than `threads` threads are active, stops and returns true. */
static bool leave(int32_t threads)
{
    int32_t active = atomic_load_explicit(&team.active, memory_order_relaxed);
    while (active > threads) {
        if (atomic_compare_exchange_weak_explicit(&team.active, &active, active - 1,
                                                  memory_order_seq_cst, memory_order_relaxed)) {
            stopped();
            return true;
        }
    }
    return false;
}

/* Finds a worker that has begun a piece of the waiting caller's job but gets no processor, and moves it to the caller's
 * processor. */
static void pull(const job *j)
{
    int32_t workers = atomic_load_explicit(&team.workers, memory_order_relaxed);
    int32_t number = 1 + (int32_t)(j - team.jobs);
    for (int32_t i = 1; i <= workers; i++) {
        pid_t id = atomic_load_explicit(&team.members[i].id, memory_order_relaxed);
        if (id && atomic_load_explicit(&team.members[i].job, memory_order_relaxed) == number &&
            migrate_here(id))
            return;
    }
}

/* Moves one worker away from the caller's processor: a worker that is awake, has no piece and may be waiting for
 * this processor. */
static void push(int32_t threads)
{
    int32_t workers = atomic_load_explicit(&team.workers, memory_order_relaxed);
    for (int32_t i = 1; i <= workers && i < threads; i++) {
        pid_t id = atomic_load_explicit(&team.members[i].id, memory_order_relaxed);
        if (id && !atomic_load_explicit(&team.members[i].job, memory_order_relaxed) &&
            !(atomic_load_explicit(&team.asleep[i / 32], memory_order_relaxed) >> i % 32 & 1)) {
            migrate_off(id);
            return;
        }
    }
}

typedef struct worker {
    int32_t number;
    int32_t threads;    /* size of the team for which the worker was last placed */
    int32_t first, end; /* threads of its node */
} worker;

/* Runs pieces of a job until no piece is left or too many threads are active. Returns whether it ran a piece. */
static bool help(job *j, const worker *w)
{
    job_order o = job_order_of(j, w->number, w->first, w->end);
    int32_t thread = w->number;
    bool joined = false, done = false;
    for (int32_t i = 0; i < o.parts; i++) {
        int32_t index = job_part_at(&o, i);
        uint64_t rest = job_rest(j, index);
        if (!job_is_open(rest, thread))
            continue;
        if (i > 0 && job_is_open(job_rest(j, job_part_at(&o, 0)), thread)) {
            o = job_order_of(j, w->number, w->first, w->end); /* the next phase has begun */
            i = -1;
            continue;
        }
        if (!joined && !join(JOB_THREADS(rest)))
            return false;
        joined = true;
        /* A thread inherits the floating-point state of its creator, and functions that pieces call
         * may change it. */
        (void)collet_floating_begin();
        migrate_away(atomic_load_explicit(&j->processor, memory_order_relaxed));
        atomic_store_explicit(&team.members[thread].job, 1 + (int32_t)(j - team.jobs),
                              memory_order_relaxed);
        done |= run_part(j, index, thread, JOB_THREADS(rest), NOW) > 0;
        atomic_store_explicit(&team.members[thread].job, 0, memory_order_relaxed);
        if (leave(JOB_THREADS(rest)))
            return done;
    }
    if (joined)
        stop();
    return done;
}

/* ---- Workers -------------------------------------------------------------------------------- */

/* Helps with all jobs, beginning with a job that depends on the worker's number. Returns whether it ran a piece. */
static bool help_any(const worker *w)
{
    bool done = false;
    uint32_t owned = atomic_load_explicit(&team.owned, memory_order_acquire);
    for (uint32_t i = 0; owned && i < JOBS; i++) {
        uint32_t index = ((uint32_t)w->number + i) % JOBS;
        if (owned >> index & 1)
            done |= help(&team.jobs[index], w);
    }
    return done;
}

/*
 * How long an idle worker spins before it sleeps. If the usual time between calls is short and no other thread needs
 * the processor, the worker spins for about twice this time; else as long as waking a thread takes.
 */
typedef struct patience {
    int64_t gap;        /* nanoseconds between calls, smoothed */
    int64_t wake;       /* shortest recent time from the call that wakes a worker until the worker runs */
    int32_t processors; /* number of CPUs of the process; fewer workers than this spin */
} patience;

/* The number of processors that the process may use; a bound worker may use fewer. */
static int32_t processors(void)
{
    cpu_set_t own;
    bool bound = team.places.count > 0 || team.nodes.count > 0;
    int32_t count = CPU_COUNT(&team.processors);
    if (!(bound && count > 0) && sched_getaffinity(0, sizeof own, &own) == 0)
        count = CPU_COUNT(&own);
    return count;
}

/* The number of workers that are awake. */
static int32_t awake(void)
{
    int32_t count = atomic_load_explicit(&team.workers, memory_order_relaxed);
    for (int i = 0; i < SLEEP_WORDS; i++)
        count -= __builtin_popcount(atomic_load_explicit(&team.asleep[i], memory_order_relaxed));
    return count;
}

/* Looks from time to time whether more threads of the program want to run than there are processors. If there are
 * more, a spinning worker would take a processor from one of these threads. This may be a thread of the program's own
 * OpenMP loops: such a thread spins between loops, and the next loop would wait for it. Threads of other programs do
 * not count: the system gives each program its share. */
static void look(int64_t now, int32_t processors)
{
    int64_t before = atomic_load_explicit(&team.looked_at, memory_order_relaxed);
    if (now - before > LOOK_AFTER &&
        atomic_compare_exchange_strong_explicit(&team.looked_at, &before, now, memory_order_relaxed,
                                                memory_order_relaxed))
        atomic_store_explicit(&team.crowded, load_is_crowded(processors, awake()),
                              memory_order_relaxed);
}

/* Spins, then sleeps, until `calls` is no longer `seen` or the worker is woken. */
static void idle(patience *p, int32_t thread, uint32_t seen)
{
    bool lost = false;
    int64_t begin = clock_now(), gap = 0;
    int64_t limit = p->gap < GAP_MAX ? clamp(2 * (p->gap + p->wake), 0, SPIN_MAX) : p->wake;
    int32_t others = atomic_fetch_add_explicit(&team.spinning, 1, memory_order_seq_cst);
    look(begin, p->processors);
    if (others + 1 < p->processors && !is_crowded())
        gap = spin(&team.calls, seen, limit, &lost);
    atomic_fetch_sub_explicit(&team.spinning, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&team.calls, memory_order_acquire) == seen &&
        sleep_until_woken(thread, seen)) {
        int64_t at = atomic_load_explicit(&team.woken_at, memory_order_relaxed),
                wake = clock_now() - at;
        p->wake = clamp(wake < p->wake ? wake : p->wake + p->wake / 16, WAKE_MIN, WAKE_MAX);
        p->processors = processors();
        gap = at - begin;
    }
    p->gap = lost ? SPIN_MAX : p->gap + (clamp(gap, 0, SPIN_MAX) - p->gap) / 4;
}

/* ---- The team's threads --------------------------------------------------------------------- */

/* Binds the calling worker to its place in a team of `threads`: an OpenMP place or, without one, a NUMA node. */
static void place(worker *w, int32_t threads)
{
    nodes_block block = {.end = WORKERS};
    if (team.places.count > 0) {
        const cpu_set_t *set = places_place(&team.places, w->number, threads);
        (void)sched_setaffinity(0, sizeof *set, set);
    } else if (team.nodes.count > 0) {
        nodes_place(&team.nodes, w->number, threads, &block);
        (void)sched_setaffinity(0, sizeof block.processors, &block.processors);
    }
    w->threads = threads;
    w->first = block.first;
    w->end = block.end;
}

static void *work(void *argument)
{
    worker w = {.number = (int32_t)(intptr_t)argument};
    atomic_store_explicit(&team.members[w.number].id, (pid_t)syscall(SYS_gettid),
                          memory_order_relaxed);
    if (CPU_COUNT(&team.processors) > 0)
        pthread_setaffinity_np(pthread_self(), sizeof team.processors, &team.processors);
    wait_briefly();
    patience p = {.wake = WAKE_MAX / 2, .processors = processors()};
    for (;;) {
        uint32_t seen = atomic_load_explicit(&team.calls, memory_order_acquire);
        int32_t threads = atomic_load_explicit(&team.tried, memory_order_relaxed);
        if (w.threads != threads)
            place(&w, threads);
        if (!help_any(&w))
            idle(&p, w.number, seen);
    }
    return NULL;
}

/* Runs in the child after fork(). The child's only thread is not in a call. */
static void forget(void)
{
    atomic_store(&team.owned, 0);
    atomic_store(&team.active, 0);
    atomic_store(&team.refused, 0);
    atomic_store(&team.spinning, 0);
    for (int i = 0; i < SLEEP_WORDS; i++)
        atomic_store(&team.asleep[i], 0);
    atomic_store(&team.workers, 0);
    atomic_store(&team.tried, 0);
    for (int i = 0; i < WORKERS; i++)
        atomic_store(&team.members[i].id, 0);
    for (int i = 0; i < JOBS * JOB_PARTS; i++)
        atomic_store(&team.jobs[i / JOB_PARTS].parts[i % JOB_PARTS].left, 0);
    pthread_mutex_init(&team.growing, NULL);
    limit_forget();
}

/* Runs when this plugin is loaded. It must not run in a call: fork() in another thread waits for calls of
 * libraries (library.h), and before glibc 2.36 pthread_atfork waits for fork(). Either the calling thread
 * or the initial thread may have bound itself to some processors; workers do not inherit such a binding. */
__attribute__((constructor)) static void prepare(void)
{
    cpu_set_t own, initial;
    team.forks_known = pthread_atfork(NULL, NULL, forget) == 0;
    if (sched_getaffinity(0, sizeof own, &own) == 0 &&
        sched_getaffinity(getpid(), sizeof initial, &initial) == 0)
        CPU_OR(&team.processors, &own, &initial);
}

static bool start(int32_t number)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, (void *)(intptr_t)number) != 0)
        return false;
    pthread_detach(thread);
    return true;
}

/* Starts workers for calls on `threads` threads. If the system refuses some threads, calls use the existing
 * threads. */
static void grow(int32_t threads)
{
    sigset_t all, before;
    if (pthread_mutex_trylock(&team.growing) != 0)
        return;
    int32_t have = atomic_load_explicit(&team.workers, memory_order_relaxed);
    if (have == 0) {
        places_find(&team.places);
        if (!getenv("OMP_PROC_BIND"))
            nodes_find(&team.nodes, &team.processors, NODES_DIRECTORY);
    }
    if (atomic_load_explicit(&team.tried, memory_order_relaxed) < threads)
        atomic_store_explicit(&team.tried, threads, memory_order_relaxed);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* workers get no signals; the host's threads do */
    for (int32_t i = have + 1; i < threads && team.forks_known; i++) {
        if (!start(i))
            break;
        atomic_store_explicit(&team.workers, i, memory_order_relaxed);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_unlock(&team.growing);
}

/* ---- Callers -------------------------------------------------------------------------------- */

/* Takes a free job for the caller; NULL: all jobs are in use. */
static job *own(void)
{
    uint32_t owned = atomic_load_explicit(&team.owned, memory_order_relaxed);
    while (~owned) {
        uint32_t lowest = ~owned & (owned + 1);
        if (atomic_compare_exchange_weak_explicit(&team.owned, &owned, owned | lowest,
                                                  memory_order_acq_rel, memory_order_relaxed))
            return &team.jobs[__builtin_ctz(lowest)];
    }
    return NULL;
}

static void disown(job *j)
{
    atomic_fetch_and_explicit(&team.owned, ~(1u << (j - team.jobs)), memory_order_acq_rel);
    stop();
}

/* Waits until all pieces are done. */
static void await(job *j, uint32_t all)
{
    uint32_t done = atomic_load_explicit(&j->done, memory_order_acquire);
    int64_t begin = done == all ? 0 : clock_now();
    while (done != all && clock_now() - begin < CALLER_SPIN) {
        relax();
        done = atomic_load_explicit(&j->done, memory_order_acquire);
    }
    for (int64_t stall = STALL_MIN; (done & ~JOB_SLEEPS) != all;) {
        if (done & JOB_SLEEPS || atomic_compare_exchange_weak(&j->done, &done, done | JOB_SLEEPS)) {
            futex_wait_for(&j->done, done | JOB_SLEEPS, stall);
            if (atomic_load_explicit(&j->done, memory_order_acquire) == (done | JOB_SLEEPS)) {
                pull(j);
                stall = clamp(2 * stall, STALL_MIN, STALL_MAX);
            }
        }
        done = atomic_load_explicit(&j->done, memory_order_acquire);
    }
}

/* The number of threads, at most `threads`, that a phase can use. */
static int32_t useful(const team_phase *phase, int32_t threads)
{
    int64_t parts = phase->count / phase->grain;
    return (int32_t)clamp(parts, 1, threads);
}

static void run_phase(job *j, int32_t threads, const team_phase *phase, void *argument)
{
    int32_t parts = useful(phase, threads < JOB_PARTS ? threads : JOB_PARTS);
    int32_t most = JOB_PIECES * threads / parts;
    int32_t pieces = (int32_t)clamp(phase->count / phase->grain / parts, 1, most);
    if (parts == 1) {
        if (phase->count > 0)
            phase->body(argument, 0, 0, phase->count);
        return;
    }
    j->body = phase->body;
    j->argument = argument;
    j->count = phase->count;
    j->pieces = pieces;
    job_begin(j, threads, parts);
    int64_t when = call(j, phase, useful(phase, threads) - 1, threads);
    uint32_t all = (uint32_t)parts * (uint32_t)pieces, did = 0;
    for (int32_t i = 0; i < parts; i++)
        did += run_part(j, i, 0, INT32_MAX, when);
    int64_t end = when != NEVER ? clock_now() : 0;
    if (end > when) /* the loop was not brief, and the next loop may not be brief either */
        atomic_store_explicit(&team.missed_at, end, memory_order_relaxed);
    if (did == all)
        push(threads);
    else
        await(j, all);
}

void team_run_phases(int32_t threads, const team_phase *phases, int32_t count, void *argument)
{
    int32_t most = 1;
    threads = threads <= WORKERS ? threads : WORKERS;
    for (int32_t i = 0; i < count; i++) {
        int32_t here = useful(&phases[i], threads);
        most = here > most ? here : most;
    }
    if (most > 1)
        threads = limit_threads(threads);
    job *j = most > 1 && threads > 1 && !omp_in_parallel() ? own() : NULL;
    if (!j) {
        for (int32_t i = 0; i < count; i++) {
            if (phases[i].count > 0)
                phases[i].body(argument, 0, 0, phases[i].count);
        }
        return;
    }
    if (atomic_load_explicit(&team.tried, memory_order_relaxed) < threads)
        grow(threads);
    atomic_fetch_add_explicit(&team.active, 1, memory_order_relaxed);
    for (int32_t i = 0; i < count; i++)
        run_phase(j, threads, &phases[i], argument);
    disown(j);
}

void team_run(int32_t threads, int64_t count, int64_t grain, team_body body, void *argument)
{
    team_phase phase = {body, count, grain, 0};
    team_run_phases(threads, &phase, 1, argument);
}

int32_t team_threads(int32_t available)
{
    /* This does not ask omp_get_max_threads, because libraries of the host program change its value for the calling
     * thread. */
    const char *text = getenv("OMP_NUM_THREADS");
    long threads = text ? strtol(text, NULL, 10) : 0;
    return threads > 0 && threads < available ? (int32_t)threads : available;
}

/* ---- Libraries with their own threads ---------------------------------------------------- */

int32_t team_take(int32_t requested, int32_t limit)
{
    limit = limit_threads(limit);
    requested = load_free_processors(requested < limit ? requested : limit);
    int32_t active = atomic_load_explicit(&team.active, memory_order_relaxed);
    int32_t granted;
    do {
        granted = (int32_t)clamp(limit - active, 1, requested);
    } while (!atomic_compare_exchange_weak_explicit(&team.active, &active, active + granted,
                                                    memory_order_relaxed, memory_order_relaxed));
    return granted;
}

void team_give(int32_t taken)
{
    atomic_fetch_sub_explicit(&team.active, taken, memory_order_seq_cst);
    stopped();
}
