/* SPDX-License-Identifier: Apache-2.0 */
#include "team.h"

#include <omp.h>
#include <stdatomic.h>

/* Threads at work now. The only mutable state of the plugin: what it counts belongs to the process.
 */
static _Atomic int32_t threads_busy;

int32_t team_take(int32_t wanted, int32_t limit)
{
    int32_t busy = atomic_load_explicit(&threads_busy, memory_order_relaxed);
    int32_t granted;
    do {
        int32_t left = limit - busy;
        granted = wanted < left ? wanted : left;
        if (granted < 1)
            granted = 1;
    } while (!atomic_compare_exchange_weak_explicit(&threads_busy, &busy, busy + granted,
                                                    memory_order_relaxed, memory_order_relaxed));
    return granted;
}

void team_give(int32_t taken)
{
    atomic_fetch_sub_explicit(&threads_busy, taken, memory_order_relaxed);
}

/* count * part / parts without overflow. */
static int64_t share(int64_t count, int32_t part, int32_t parts)
{
    return count / parts * part + count % parts * part / parts;
}

void team_run(int32_t threads, int64_t count, int64_t grain, team_body body, void *argument)
{
    int64_t useful = count / grain;
    int32_t wanted = useful < threads ? (int32_t)useful : threads;
    if (wanted <= 1) {
        if (count > 0)
            body(argument, 0, 0, count);
        return;
    }
    int32_t granted = team_take(wanted, threads);
    if (granted == 1) {
        body(argument, 0, 0, count);
    } else {
#pragma omp parallel num_threads(granted) default(none) shared(count, body, argument)
        {
            int32_t thread = omp_get_thread_num(), team = omp_get_num_threads();
            int64_t begin = share(count, thread, team), end = share(count, thread + 1, team);
            if (begin < end)
                body(argument, thread, begin, end);
        }
    }
    team_give(granted);
}
