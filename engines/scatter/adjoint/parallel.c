/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/scatter/test_scatter_gradients.c */
#include "scatter/adjoint/parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <collet/floating.h>

#include "io/thread.h"

#define MAX_THREADS 256

typedef struct loop {
    scatter_body body;
    void *argument;
    int64_t count, grain;
    _Atomic int64_t next;
} loop;

typedef struct worker {
    loop *all;
    int index, started;
    pthread_t thread;
} worker;

int scatter_threads(const collet_runtime *runtime)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    collet_setting setting = {.struct_size = sizeof setting};
    for (size_t i = 0; i < collet_setting_count(runtime); i++)
        if (collet_setting_at(runtime, &setting, i, NULL) == COLLET_OK &&
            !strcmp(setting.key, "num_threads")) {
            long requested = strtol(setting.value, NULL, 10);
            count = requested > 0 && requested < count ? (int)requested : count;
        }
    int limit = collet_thread_limit();
    count = limit > 0 && limit < count ? limit : count;
    return count < MAX_THREADS ? count : MAX_THREADS;
}

static void run(loop *all, int thread)
{
    int64_t begin;
    while ((begin = atomic_fetch_add(&all->next, all->grain)) < all->count) {
        int64_t end = begin + all->grain < all->count ? begin + all->grain : all->count;
        all->body(all->argument, begin, end, thread);
    }
}

static void *start(void *argument)
{
    COLLET_FLOATING_SCOPE;
    worker *w = argument;
    run(w->all, w->index);
    return NULL;
}

void scatter_parallel(int threads, int64_t count, int64_t grain, scatter_body body, void *argument)
{
    loop all = {.body = body, .argument = argument, .count = count, .grain = grain};
    worker workers[MAX_THREADS];
    int64_t parts = (count + grain - 1) / grain;
    int helpers = (int)(parts < threads ? parts : threads) - 1;
    for (int i = 0; i < helpers; i++) {
        workers[i] = (worker){.all = &all, .index = i + 1};
        workers[i].started = io_thread_start(&workers[i].thread, start, &workers[i]) == 0;
    }
    run(&all, 0);
    for (int i = 0; i < helpers; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
}
