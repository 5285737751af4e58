/* SPDX-License-Identifier: Apache-2.0 */
#include "team.h"

#include "common/stats.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SPINS_BEFORE_YIELD 2000

typedef struct worker {
    bench_team *team;
    pthread_t thread;
    int32_t index, cpu;
    double begin, end;
} worker;

struct bench_team {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    int32_t size, started;
    uint64_t generation; /* of the work; grows with each run */
    int32_t threads, stride, running, quit;
    bench_part part;
    void *user;
    _Atomic int32_t arrived; /* threads that are ready to begin */
    worker *workers;
};

static void bind_to(int32_t cpu)
{
    cpu_set_t set;
    if (cpu < 0)
        return;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    /* If the system refuses, it places the thread itself. */
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* Waking takes long against a short piece of work: nobody begins before all are there. */
static void meet(bench_team *team)
{
    atomic_fetch_add(&team->arrived, 1);
    for (int32_t spins = 0; atomic_load(&team->arrived) < team->threads; spins++)
        if (spins > SPINS_BEFORE_YIELD)
            sched_yield();
}

static void work(worker *w, int32_t rank)
{
    bench_team *team = w->team;
    meet(team);
    w->begin = bench_now();
    team->part(team->user, rank, team->threads);
    w->end = bench_now();
}

static void *worker_main(void *argument)
{
    worker *w = argument;
    bench_team *team = w->team;
    uint64_t seen = 0;

    bind_to(w->cpu);
    pthread_mutex_lock(&team->lock);
    for (;;) {
        while (team->generation == seen && !team->quit)
            pthread_cond_wait(&team->wake, &team->lock);
        if (team->quit)
            break;
        seen = team->generation;
        int32_t rank = w->index % team->stride ? team->threads : w->index / team->stride;
        pthread_mutex_unlock(&team->lock);
        if (rank < team->threads)
            work(w, rank);
        pthread_mutex_lock(&team->lock);
        if (--team->running == 0)
            pthread_cond_signal(&team->done);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

/* The index-th processor that this process may use, -1 if unknown. */
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

bench_team *bench_team_create(int32_t size)
{
    bench_team *team = calloc(1, sizeof *team);
    if (!team)
        return NULL;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    pthread_cond_init(&team->done, NULL);
    team->workers = calloc((size_t)size, sizeof *team->workers);
    for (int32_t i = 0; team->workers && i < size; i++) {
        worker *w = &team->workers[i];
        *w = (worker){.team = team, .index = i, .cpu = allowed_cpu(i)};
        if (pthread_create(&w->thread, NULL, worker_main, w))
            break;
        team->started++;
    }
    team->size = size;
    if (team->workers && team->started == size)
        return team;
    bench_team_destroy(team);
    return NULL;
}

void bench_team_destroy(bench_team *team)
{
    if (!team)
        return;
    pthread_mutex_lock(&team->lock);
    team->quit = 1;
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
    for (int32_t i = 0; i < team->started; i++)
        pthread_join(team->workers[i].thread, NULL);
    pthread_cond_destroy(&team->wake);
    pthread_cond_destroy(&team->done);
    pthread_mutex_destroy(&team->lock);
    free(team->workers);
    free(team);
}

double bench_team_run(bench_team *team, int32_t threads, bench_part part, void *user)
{
    double begin = 0, end = 0;
    pthread_mutex_lock(&team->lock);
    team->part = part;
    team->user = user;
    team->threads = threads < team->size ? threads : team->size;
    team->stride = team->size / team->threads;
    team->running = team->size;
    atomic_store(&team->arrived, 0);
    team->generation++;
    pthread_cond_broadcast(&team->wake);
    while (team->running)
        pthread_cond_wait(&team->done, &team->lock);
    for (int32_t i = 0; i < team->threads; i++) {
        const worker *w = &team->workers[i * team->stride];
        begin = i == 0 || w->begin < begin ? w->begin : begin;
        end = i == 0 || w->end > end ? w->end : end;
    }
    pthread_mutex_unlock(&team->lock);
    return end - begin;
}
