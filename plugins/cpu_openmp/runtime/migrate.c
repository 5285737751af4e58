/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_nodes.c, tests/cpu_openmp/test_team.c */
#include "migrate.h"

#include <sched.h>

#include "wait.h"

/* Nanoseconds. */
#define AWAY_EVERY 500000
#define OBSERVED 4000

/* Moves the thread `id` (0: the calling thread) away if it runs on `processor` or waits for it. */
static void leave(pid_t id, int32_t processor)
{
    cpu_set_t all, others;
    if (processor < 0 || sched_getaffinity(id, sizeof all, &all) != 0)
        return;
    others = all;
    CPU_CLR((size_t)processor, &others);
    if (CPU_COUNT(&others) > 0 && sched_setaffinity(id, sizeof others, &others) == 0)
        (void)sched_setaffinity(id, sizeof all, &all);
}

static bool is_early(int64_t *last)
{
    int64_t now = clock_now();
    if (now - *last < AWAY_EVERY)
        return true;
    *last = now;
    return false;
}

void migrate_away(int32_t processor)
{
    static _Thread_local int64_t last;
    if (sched_getcpu() == processor && !is_early(&last))
        leave(0, processor);
}

void migrate_off(pid_t id)
{
    static _Thread_local int64_t last;
    if (!is_early(&last))
        leave(id, sched_getcpu());
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
