/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over memory by threads that are bound to processors and start at the same moment. */
#pragma once

#include <stdint.h>

typedef struct bench_team {
    int32_t threads, processors; /* threads are spread over the first allowed processors */
    void (*part)(void *user, int32_t thread, int32_t threads); /* one thread's part of a pass */
    void *user;
    int64_t passes; /* minimum number of passes after the warm-up pass */
    double seconds; /* minimum time of all passes, including the warm-up pass */
    /* For each pass except the warm-up: seconds from the first thread's start to the last thread's end. */
    double *samples;
    int64_t count, capacity;
} bench_team;

/* Runs passes and adds samples. If the system cannot create all threads, the created threads do the work, and
 * team->threads becomes their number. */
void bench_team_run(bench_team *team);
