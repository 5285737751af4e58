/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - runs loops on several threads; all threads of this plugin come from here.
 *
 * All devices, contexts and runtimes of a process together use at most as many threads as one of
 * them may: a late caller gets the remaining threads, at least its own, and never waits. The team
 * is one of OpenMP, sized by a num_threads clause: the host's own OpenMP settings do not change,
 * and a host that calls from a parallel region gets what OpenMP grants there.
 */
#ifndef COLLET_OPENMP_TEAM_H
#define COLLET_OPENMP_TEAM_H

#include <stdint.h>

/* Does items begin..end-1. `thread` is 0..threads-1, different for calls that run at the same time.
 */
typedef void (*team_body)(void *argument, int32_t thread, int64_t begin, int64_t end);

/*
 * Calls `body` for the items 0..count-1, one contiguous part per thread, on at most `threads`
 * threads with at least `grain` (>= 1) items each; without OpenMP when that leaves one thread.
 * Returns when all are done. Which thread gets which items is unspecified. count 0 does nothing.
 */
void team_run(int32_t threads, int64_t count, int64_t grain, team_body body, void *argument);

/* One phase: items 0..count-1, at least `grain` (>= 1) per thread. */
typedef struct team_phase {
    team_body body;
    int64_t count, grain;
} team_phase;

/* Runs several phases on one team, with a barrier between them. The team has as many threads as the
 * phase that can use the most. */
void team_run_phases(int32_t threads, const team_phase *phases, int32_t count, void *argument);

/*
 * The thread count alone, for a library with its own threads: returns how many of `wanted` (>= 1)
 * threads its call may use when this plugin may use `limit`; at least 1. The caller returns the
 * same number by team_give.
 */
int32_t team_take(int32_t wanted, int32_t limit);
void team_give(int32_t taken);

#endif
