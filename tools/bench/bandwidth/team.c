/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_parts.c */
#include "team.h"

#include "common/stats.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS_MAX 1024
#define SPINS_BEFORE_YIELD 2000

typedef struct worker {
    struct run *run;
    pthread_t thread;
    int32_t rank, cpu; /* cpu -1: not bound */
    double begin, end;
} worker;

typedef struct run {
    bench_team *team;
    _Atomic int32_t threads; /* number of threads; 0: not all are created yet */
    _Atomic int64_t arrived;
    int64_t passes;
    double end;
    int32_t stop;
    worker workers[THREADS_MAX];
} run;

static void bind_to(int32_t cpu)
{
    cpu_set_t set;
    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    /* If this fails, the system chooses the thread's processor. */
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* A barrier that spins, because waking a thread takes long compared with a short pass. */
static void meet(run *r, int32_t threads)
{
    int64_t all = (atomic_fetch_add(&r->arrived, 1) / threads + 1) * threads;
    for (int32_t spins = 0; atomic_load(&r->arrived) < all; spins++)
        if (spins > SPINS_BEFORE_YIELD)
            sched_yield();
}

static void end_pass(run *r, int32_t threads)
{
    bench_team *team = r->team;
    double begin = r->workers[0].begin, end = r->workers[0].end;
    for (int32_t i = 1; i < threads; i++) {
        begin = r->workers[i].begin < begin ? r->workers[i].begin : begin;
        end = r->workers[i].end > end ? r->workers[i].end : end;
    }
    if (r->passes++ && team->count < team->capacity)
        team->samples[team->count++] = end - begin;
    r->stop = r->passes > team->passes && end >= r->end;
}

static void *worker_main(void *argument)
{
    worker *w = argument;
    run *r = w->run;
    int32_t threads;
    bind_to(w->cpu);
    while (!(threads = atomic_load(&r->threads)))
        sched_yield();
    while (!r->stop) {
        meet(r, threads);
        w->begin = tool_now();
        r->team->part(r->team->user, w->rank, threads);
        w->end = tool_now();
        meet(r, threads);
        if (w->rank == 0)
            end_pass(r, threads);
        meet(r, threads);
    }
    return NULL;
}

/* Returns the index-th processor that this process may use, -1 if unknown. */
static int32_t allowed_cpu(int32_t index)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return -1;
    for (int32_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &set) && index-- == 0)
            return cpu;
    return -1;
}

void bench_team_run(bench_team *team)
{
    run r = {.team = team, .end = tool_now() + team->seconds};
    int32_t started = 0, limit = team->threads < THREADS_MAX ? team->threads : THREADS_MAX;
    for (; started < limit; started++) {
        worker *w = &r.workers[started];
        *w = (worker){&r, .rank = started,
                      .cpu = allowed_cpu(started * (team->processors / team->threads))};
        if (pthread_create(&w->thread, NULL, worker_main, w))
            break;
    }
    team->threads = started ? started : 1;
    atomic_store(&r.threads, team->threads);
    if (!started) {
        r.workers[0].cpu = -1;
        worker_main(&r.workers[0]);
    }
    for (int32_t i = 0; i < started; i++)
        pthread_join(r.workers[i].thread, NULL);
}
