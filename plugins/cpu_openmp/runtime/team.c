/* SPDX-License-Identifier: Apache-2.0 */
#include "team.h"

#include <omp.h>
#include <stdatomic.h>

/* Threads at work now, in the whole process. (The plugin's other mutable state is in providers/:
 * the libraries that it has opened.)
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

/* How many of at most `threads` threads have items. */
static int32_t useful(const team_phase *phase, int32_t threads)
{
    int64_t parts = phase->count / phase->grain;
    if (parts <= 1)
        return 1;
    return parts < threads ? (int32_t)parts : threads;
}

/* Runs the items of one thread, if it has any in this phase. */
static void run_part(const team_phase *phase, int32_t thread, int32_t team, void *argument)
{
    int32_t parts = useful(phase, team);
    if (thread >= parts)
        return;
    int64_t begin = share(phase->count, thread, parts);
    int64_t end = share(phase->count, thread + 1, parts);
    if (begin < end)
        phase->body(argument, thread, begin, end);
}

void team_run_phases(int32_t threads, const team_phase *phases, int32_t count, void *argument)
{
    int32_t wanted = 1, granted = 1;
    for (int32_t i = 0; i < count; i++) {
        int32_t here = useful(&phases[i], threads);
        wanted = here > wanted ? here : wanted;
    }
    if (wanted > 1)
        granted = team_take(wanted, threads);
    if (granted == 1) {
        for (int32_t i = 0; i < count; i++)
            run_part(&phases[i], 0, 1, argument);
    } else {
#pragma omp parallel num_threads(granted) default(none) shared(phases, count, argument)
        {
            int32_t thread = omp_get_thread_num(), team = omp_get_num_threads();
            for (int32_t i = 0; i < count; i++) {
                if (i > 0) {
#pragma omp barrier
                }
                run_part(&phases[i], thread, team, argument);
            }
        }
    }
    if (wanted > 1)
        team_give(granted);
}

void team_run(int32_t threads, int64_t count, int64_t grain, team_body body, void *argument)
{
    team_phase phase = {body, count, grain};
    team_run_phases(threads, &phase, 1, argument);
}
