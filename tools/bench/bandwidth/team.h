/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over memory by threads that are bound to processors and start at the same moment. */
#ifndef TOOLS_BENCH_BANDWIDTH_TEAM_H
#define TOOLS_BENCH_BANDWIDTH_TEAM_H

#include <stdint.h>

typedef struct bench_team {
    int32_t threads, processors; /* threads are spread over the first allowed processors */
    void (*part)(void *user, int32_t thread, int32_t threads); /* of a pass, for one thread */
    void *user;
    int64_t passes; /* at least, after one that warms up */
    double seconds; /* at least, with the first one */
    /* Each pass but the first one: seconds from the first start to the last end. */
    double *samples;
    int64_t count, capacity;
} bench_team;

/* Adds samples. Where the system refuses threads, the others do the work; team->threads is then
 * their number. */
void bench_team_run(bench_team *team);

#endif
