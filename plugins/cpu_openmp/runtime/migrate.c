/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_nodes.c, tests/cpu_openmp/test_team.c */
#include "migrate.h"

#include <sched.h>

#include "wait.h"

/* Nanoseconds. */
#define AWAY_EVERY 500000
#define OBSERVED 4000

void migrate_away(int32_t processor)
{
    static _Thread_local int64_t last;
    cpu_set_t all, others;
    if (sched_getcpu() != processor || clock_now() - last < AWAY_EVERY ||
        sched_getaffinity(0, sizeof all, &all) != 0)
        return;
    last = clock_now();
    others = all;
    CPU_CLR((size_t)processor, &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
        (void)sched_setaffinity(0, sizeof all, &all);
}

/* Processor time of a thread of this process, as pthread_getcpuclockid(3) counts it. */
static int64_t time_used(pid_t id)
{
    struct timespec t = {0, 0};
    (void)clock_gettime((clockid_t)(~(uint32_t)id << 3 | 6), &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool migrate_here(pid_t id)
{
    cpu_set_t all, here;
    int processor = sched_getcpu();
    int64_t used = time_used(id), begin = clock_now();
    while (clock_now() - begin < OBSERVED)
        relax();
    if (processor < 0 || time_used(id) != used || sched_getaffinity(id, sizeof all, &all) != 0 ||
        !CPU_ISSET((size_t)processor, &all))
        return false;
    CPU_ZERO(&here);
    CPU_SET((size_t)processor, &here);
    if (sched_setaffinity(id, sizeof here, &here) == 0)
        (void)sched_setaffinity(id, sizeof all, &all);
    return true;
}
