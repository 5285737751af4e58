/* SPDX-License-Identifier: Apache-2.0 */
/*
 * team.h - the one gate through which this plugin uses more than the calling thread.
 *
 * All devices, contexts and runtimes of a process together never use more threads here than one of
 * them may: who comes while others work gets the threads that are left, and at least its own.
 * Nobody waits. The team is OpenMP's; its size is asked for by a clause, so the host's own OpenMP
 * settings stay as they are, and a host that is itself in a parallel region gets what OpenMP grants
 * it there.
 */
#ifndef COLLET_OPENMP_TEAM_H
#define COLLET_OPENMP_TEAM_H

#include <stdint.h>

/* Does items begin..end-1. `thread` is 0..threads-1, different for calls that run at the same time.
 */
typedef void (*team_body)(void *argument, int32_t thread, int64_t begin, int64_t end);

/*
 * Calls `body` for the items 0..count-1, in one part a thread, on at most `threads` threads and
 * with at least `grain` (>= 1) items each; as a plain call when that leaves one thread. Returns
 * when all is done. Which thread does which items is not to be relied on. count 0 does nothing.
 */
void team_run(int32_t threads, int64_t count, int64_t grain, team_body body, void *argument);

/* What is done at a time: items 0..count-1, at least `grain` (>= 1) of them a thread. */
typedef struct team_phase {
    team_body body;
    int64_t count, grain;
} team_phase;

/* The same for several phases, each of which begins when the one before is done, by one team: as
 * many threads as the phase with the most for them has. */
void team_run_phases(int32_t threads, const team_phase *phases, int32_t count, void *argument);

/*
 * The gate alone, for a library that has threads of its own: how many of `wanted` (>= 1) threads
 * its call may use when this plugin may use `limit`, 1 at least. They are the caller's until
 * team_give, which takes the same number back.
 */
int32_t team_take(int32_t wanted, int32_t limit);
void team_give(int32_t taken);

#endif
