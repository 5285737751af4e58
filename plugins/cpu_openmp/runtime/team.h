/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - runs loops on several threads; all threads of this plugin come from here.
 *
 * One team serves all devices, contexts and runtimes of a process: workers, which are started by
 * the first call and last as long as the process, and each calling thread for the time of its call.
 * A loop is cut into more pieces than threads. Each running thread takes the next piece, the caller
 * too: a worker that the operating system has not scheduled delays nothing unless it has begun a
 * piece. The caller waits for such pieces only; it spins for a few microseconds and then sleeps, so
 * that its processor can run the other thread. Idle workers sleep. To wake one takes longer than a
 * brief loop: after a pause the caller does such a loop alone, and wakes workers only if it takes longer
 * than expected. Callers and working workers together are never more than the largest `threads` of a
 * call, so calls at the same time share the team. If the system now allows fewer (limit.h), calls use
 * that number. A child after fork() gets a team of its own.
 *
 * The workers are not threads of an OpenMP region, because the barrier of a region waits for every
 * thread. They are bound to the places that OpenMP reads from OMP_PROC_BIND, OMP_PLACES or
 * GOMP_CPU_AFFINITY (places.h); without these variables, to the machine's NUMA nodes (nodes.h).
 */
#ifndef PLUGINS_CPU_OPENMP_RUNTIME_TEAM_H
#define PLUGINS_CPU_OPENMP_RUNTIME_TEAM_H

#include <stdint.h>

/* The number of threads that calls may use: `available`, or fewer by OMP_NUM_THREADS. */
int32_t team_threads(int32_t available);

/* Does items begin..end-1. `thread` is 0..threads-1, different for calls that run at the same time.
 * A thread may be called more than once, for parts in any order. */
typedef void (*team_body)(void *argument, int32_t thread, int64_t begin, int64_t end);

/* The head of such a function; few use the thread. */
#define TEAM_BODY(name)                                                                            \
    void name(void *argument, __attribute__((unused)) int32_t thread, int64_t begin, int64_t end)

/*
 * Calls `body` for the items 0..count-1, in contiguous pieces of at least `grain` (>= 1) items, on
 * at most `threads` threads: the caller and workers. Returns when all are done. Which thread gets
 * which items is unspecified. count 0 does nothing. Inside an OpenMP region the caller does
 * everything.
 */
void team_run(int32_t threads, int64_t count, int64_t grain, team_body body, void *argument);

/* One phase: items 0..count-1, at least `grain` (>= 1) per piece. `brief`: 1 if the phase takes at
 * most some tens of microseconds on one thread. */
typedef struct team_phase {
    team_body body;
    int64_t count, grain;
    int32_t brief;
} team_phase;

/* Whether a loop is brief whose pieces of `grain` items take a few microseconds each. */
static inline int32_t team_is_brief(int64_t count, int64_t grain)
{
    return count / grain < 16;
}

/* Runs several phases in order: one begins when all pieces of the one before are done. */
void team_run_phases(int32_t threads, const team_phase *phases, int32_t count, void *argument);

/*
 * The thread count alone, for a library with its own threads, which wait for each other: returns
 * how many of `requested` (>= 1) threads its call may use when this plugin may use `limit`, not
 * more than there are processors that nothing else uses now; at least 1. The caller returns the
 * same number by team_give.
 */
int32_t team_take(int32_t requested, int32_t limit);
void team_give(int32_t taken);

#endif
