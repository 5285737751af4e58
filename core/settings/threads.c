/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_util.c, tests/core/test_config.c */
#include "threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROC_TEXT_MAX 6144
#define LINE 128
#define CPU_SETS_MAX (1 << 20)

/* Allocates nothing, because kernels read the quota while they run. */
static int read_text(const char *path, char *out, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    size_t length = 0;
    ssize_t more;
    while ((more = read(file, out + length, size - 1 - length)) > 0)
        length += (size_t)more;
    out[length] = '\0';
    close(file);
    return length > 0;
}

static int32_t quota_cpus(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return 0;
    long long cpus = quota / period + (quota % period != 0);
    return cpus > INT32_MAX ? 0 : (int32_t)cpus;
}

/* Reads the quota of a group, whose path is the first `length` bytes of `group`. */
static int quota_text(const char *format, const char *root, const char *group, int length,
                      char line[LINE])
{
    char path[PATH_MAX];
    int bytes = snprintf(path, sizeof path, format, root, length, group);
    return bytes > 0 && bytes < (int)sizeof path && read_text(path, line, LINE);
}

static int32_t quota_at(const char *root, const char *group, int length, int version)
{
    char line[LINE];
    long long quota = 0, period = 0;
    if (version == 2)
        return quota_text("%s%.*s/cpu.max", root, group, length, line) &&
                       sscanf(line, "%lld %lld", &quota, &period) == 2
                   ? quota_cpus(quota, period)
                   : 0;
    if (!quota_text("%s/cpu%.*s/cpu.cfs_quota_us", root, group, length, line))
        return 0;
    quota = strtoll(line, NULL, 10);
    return quota_text("%s/cpu%.*s/cpu.cfs_period_us", root, group, length, line)
               ? quota_cpus(quota, strtoll(line, NULL, 10))
               : 0;
}

/* The smallest quota of a group and its parents, because all of them apply. */
static int32_t quota_upwards(const char *root, const char *group, int length, int version)
{
    int32_t minimum = 0;
    for (;;) {
        int32_t cpus = quota_at(root, group, length, version);
        if (cpus && (!minimum || cpus < minimum))
            minimum = cpus;
        const char *slash = memrchr(group, '/', (size_t)length);
        if (!slash)
            return minimum;
        length = (int)(slash - group);
    }
}

static int names_cpu(const char *controllers, const char *end)
{
    for (const char *c = controllers; c < end; c += strcspn(c, ",:") + 1)
        if (!strncmp(c, "cpu", 3) && (c[3] == ',' || c[3] == ':'))
            return 1;
    return 0;
}

int32_t threads_cgroup_quota(const char *root, const char *self)
{
    int32_t minimum = 0;
    for (const char *line = self, *end; *line; line = end + (*end == '\n')) {
        end = line + strcspn(line, "\n");
        const char *controllers = memchr(line, ':', (size_t)(end - line));
        if (!controllers++)
            continue;
        const char *group = memchr(controllers, ':', (size_t)(end - controllers));
        if (!group)
            continue;
        int version = controllers < group ? 1 : 2;
        if (version == 1 && !names_cpu(controllers, group))
            continue;
        int32_t cpus = quota_upwards(root, group + 1, (int)(end - group - 1), version);
        if (cpus && (!minimum || cpus < minimum))
            minimum = cpus;
    }
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

/* If `own`, a set of `size` bytes, is the first place, to which the runtime binds the thread that
 * loads it: returns the number of processors of all places. Else 0, because something else bound
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
    char self[PROC_TEXT_MAX];
    int32_t quota = 0;
    if (read_text("/proc/self/cgroup", self, sizeof self))
        quota = threads_cgroup_quota("/sys/fs/cgroup", self);
    return quota && quota < limit ? quota : limit;
}

int32_t threads_allowed(int64_t limit)
{
    int32_t count = affinity_cpus();
    return limit > 0 && limit < count ? (int32_t)limit : count;
}
