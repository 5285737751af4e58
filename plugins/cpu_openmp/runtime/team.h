/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - runs loops on several threads; all threads of this plugin come from here.
 *
 * One team serves all devices, contexts and runtimes of a process. The team consists of workers and of each calling
 * thread during its call. The first calls start the workers, which last as long as the process.
 * A loop is cut into more pieces than threads. Each running thread, the caller too, takes the next piece;
 * so a worker that the operating system has not scheduled delays nothing unless it has begun a piece. The
 * caller waits only for pieces that have begun; it spins for a few microseconds and then sleeps, so that
 * its processor can run a thread that has begun a piece. Idle workers sleep. Waking a worker takes longer than a brief
 * loop; so after a pause the caller runs a brief loop alone, and wakes workers only if the loop takes longer
 * than expected. The number of active callers and workers is at most the largest `threads` of a current
 * call, so calls at the same time share the team. If the system now allows fewer threads (limit.h), calls
 * use that number. A child after fork() gets its own team.
 *
 * The workers are not threads of an OpenMP region, because the barrier of a region waits for every
 * thread. They are bound to the places that OpenMP reads from OMP_PROC_BIND, OMP_PLACES or
 * GOMP_CPU_AFFINITY (places.h). Without these variables they are bound to the machine's NUMA nodes (nodes.h).
 */
#pragma once

#include <stdint.h>

/* The number of threads that calls may use: the smaller of `available` and OMP_NUM_THREADS. */
int32_t team_threads(int32_t available);

/* Processes items begin..end-1. `thread` is 0..threads-1; calls of the function that run at the same time have
 * different numbers. A thread may call it several times, for parts in any order. */
typedef void (*team_body)(void *argument, int32_t thread, int64_t begin, int64_t end);

/* Declares a team_body; `thread` may be unused. */
#define TEAM_BODY(name)                                                                            \
    void name(void *argument, __attribute__((unused)) int32_t thread, int64_t begin, int64_t end)

/* Calls `body` for the items 0..count-1, in contiguous pieces of at least `grain` (>= 1) items, on
 * at most `threads` threads: the caller and workers. Returns when all are done. Which thread gets
 * which items is unspecified. count 0 does nothing. Inside an OpenMP region the caller does
 * everything. */
void team_run(int32_t threads, int64_t count, int64_t grain, team_body body, void *argument);

/* One phase: items 0..count-1, at least `grain` (>= 1) per piece. `brief`: 1 if the phase takes at
 * most some tens of microseconds on one thread. */
typedef struct team_phase {
    team_body body;
    int64_t count, grain;
    int32_t brief;
} team_phase;

/* Whether a loop is brief, if each piece of `grain` items takes a few microseconds. */
static inline int32_t team_is_brief(int64_t count, int64_t grain)
{
    return count / grain < 24;
}

/* Runs several phases in order. A phase begins when all pieces of the phase before it are done. */
void team_run_phases(int32_t threads, const team_phase *phases, int32_t count, void *argument);

/*
 * Reserves threads for a call of a library that has its own threads. These threads wait for each other. `limit`:
 * the number of threads that this plugin may use. Returns the number of threads that the call may use: at least 1,
 * at most `requested` (>= 1), and at most the number of processors that nothing else uses now. Afterwards the
 * caller releases this number by team_give. */
int32_t team_take(int32_t requested, int32_t limit);
void team_give(int32_t taken);
