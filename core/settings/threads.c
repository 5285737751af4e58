/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_util.c, tests/core/test_config.c */
#include "threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/cgroup.h"

#define LINE 128
#define CPU_SETS_MAX (1 << 20)

static int32_t quota_cpus(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    long long cpus = quota / period + (quota % period != 0);
    return cpus > INT32_MAX ? 0 : (int32_t)cpus;
}

/* The smallest quota of a group and its parents, because all of them apply. */
static void take_quota(void *user, const cgroup *g)
{
    char line[LINE];
    int32_t *minimum = user;
    long long quota = 0, period = 0;
    if (g->version == 2) {
        if (!cgroup_read(g->directory, "cpu.max", line, sizeof line) ||
            sscanf(line, "%lld %lld", &quota, &period) != 2)
            return;
    } else {
        if (cgroup_read(g->directory, "cpu.cfs_quota_us", line, sizeof line))
            quota = strtoll(line, NULL, 10);
        if (cgroup_read(g->directory, "cpu.cfs_period_us", line, sizeof line))
            period = strtoll(line, NULL, 10);
    }
    int32_t cpus = quota_cpus(quota, period);
    if (cpus && (!*minimum || cpus < *minimum))
        *minimum = cpus;
}

int32_t threads_cgroup_quota(const char *root, const char *self)
{
    int32_t minimum = 0;
    cgroup_visit(root, self, "cpu", take_quota, &minimum);
    return minimum;
}

/* ---- Affinity ---------------------------------------------------------------------------- */

/* The places of a threading runtime that the program has loaded: sets of processors, which may
 * overlap. There are places only if an environment variable requests them. */
typedef struct places {
    int (*count)(void);
    int (*processors)(int place);
    void (*ids)(int place, int *ids);
} places;

static int places_find(places *p)
{
    static const char *const variables[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"};
    int set = 0;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        set |= getenv(variables[i]) != NULL;
    if (!set)
        return 0;
    /* A runtime that was loaded by a library of the program is not in the global scope. */
    void *loaded = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *scope = loaded ? loaded : RTLD_DEFAULT;
    *(void **)&p->count = dlsym(scope, "omp_get_num_places");
    *(void **)&p->processors = dlsym(scope, "omp_get_place_num_procs");
    *(void **)&p->ids = dlsym(scope, "omp_get_place_proc_ids");
    if (loaded)
        dlclose(loaded);
    return p->count && p->processors && p->ids;
}

/* Adds the processors of a place to a set; 0: out of memory. */
static int place_add(const places *p, int place, cpu_set_t *set, size_t size)
{
    int count = p->processors(place);
    int *ids = calloc((size_t)count + 1, sizeof *ids);
    if (!ids)
        return 0;
    p->ids(place, ids);
    for (int i = 0; i < count; i++)
        CPU_SET_S((size_t)ids[i], size, set);
    free(ids);
    return 1;
}

/* `own` is a set of `size` bytes. A runtime binds the thread that loads it to the first place. If `own` is the first
 * place, returns the number of processors of all places. Else 0, because something else bound
 * the thread; also 0 if out of memory. */
static int32_t places_cpus(const cpu_set_t *own, size_t size)
{
    places p;
    int count = places_find(&p) ? p.count() : 0, place = 0;
    cpu_set_t *all = count > 0 ? CPU_ALLOC(size * CHAR_BIT) : NULL;
    if (!all)
        return 0;
    CPU_ZERO_S(size, all);
    while (place < count && place_add(&p, place, all, size) &&
           (place > 0 || CPU_EQUAL_S(size, all, own)))
        place++;
    int32_t cpus = place == count ? CPU_COUNT_S(size, all) : 0;
    CPU_FREE(all);
    return cpus;
}

static int32_t affinity_cpus(void)
{
    for (int cpus = 1024; cpus <= CPU_SETS_MAX; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        size_t size = CPU_ALLOC_SIZE((size_t)cpus);
        if (!set)
            break;
        int failed = sched_getaffinity(0, size, set);
        int count = failed ? 0 : CPU_COUNT_S(size, set);
        int32_t placed = failed ? 0 : places_cpus(set, size);
        CPU_FREE(set);
        if (!failed)
            return placed > count ? placed : count > 0 ? count : 1;
        if (errno != EINVAL)
            break;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int32_t)online : 1;
}

int32_t threads_within_quota(int32_t limit)
{
    int32_t quota = threads_cgroup_quota(CGROUP_ROOT, NULL);
    return quota && quota < limit ? quota : limit;
}

int32_t threads_allowed(int64_t limit)
{
    int32_t count = affinity_cpus();
    return limit > 0 && limit < count ? (int32_t)limit : count;
}
