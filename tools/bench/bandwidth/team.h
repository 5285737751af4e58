/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, one bound to each allowed processor, that start a piece of work at the same moment. */
#ifndef BENCH_TEAM_H
#define BENCH_TEAM_H

#include <stdint.h>

typedef struct bench_team bench_team;

/* The part of thread `thread` of `threads`. */
typedef void (*bench_part)(void *user, int32_t thread, int32_t threads);

/* `size` threads, 1 or more. NULL when memory or threads are short. */
bench_team *bench_team_create(int32_t size);
void bench_team_destroy(bench_team *team);

/* Runs `part` on `threads` of the team (spread over its processors) and returns the seconds from
 * the first start to the last end. Between runs the threads sleep. */
double bench_team_run(bench_team *team, int32_t threads, bench_part part, void *user);

#endif
