/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_memory_limit.c */
#include "memory_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cgroup.h"
#include "struct.h"

#define TEXT 4096 /* on the stack: a call may use 44 KiB in all (tests/core/test_stack.c) */

static void take_total(collet_memory_limit *l, uint64_t bytes, const char *what, const char *where)
{
    if (bytes >= l->total)
        return;
    l->total = bytes;
    snprintf(l->by, sizeof l->by, "%s%s%.180s", what, *where ? " of the cgroup " : "", where);
}

static void take_available(collet_memory_limit *l, uint64_t limit, uint64_t used)
{
    uint64_t left = limit > used ? limit - used : 0;
    l->available = left < l->available ? left : l->available;
}

/* The number after `key` at the start of a line; 0: there is none. */
static uint64_t number_of(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, key, length) && strchr(" :\t", line[length]))
            return strtoull(line + length + 1, NULL, 10);
    }
    return 0;
}

/* ---- Control groups -------------------------------------------------------------------------- */

/* Cached pages of files do not count as used, because the system frees them first. */
static void take_group(void *user, const cgroup *g)
{
    static const struct {
        int version;
        const char *limit, *used, *cached;
    } files[] = {
        {2, "memory.max", "memory.current", "inactive_file"},
        {2, "memory.high", "memory.current", "inactive_file"},
        {1, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
    };
    char text[TEXT];
    collet_memory_limit *l = user;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i].version != g->version ||
            !cgroup_read(g->directory, files[i].limit, text, sizeof text) || *text < '0' ||
            *text > '9') /* "max": no limit */
            continue;
        uint64_t limit = strtoull(text, NULL, 10), used = 0, cached = 0;
        if (limit >= l->machine)
            continue;
        take_total(l, limit, files[i].limit, g->name);
        if (cgroup_read(g->directory, files[i].used, text, sizeof text))
            used = strtoull(text, NULL, 10);
        if (cgroup_read(g->directory, "memory.stat", text, sizeof text))
            cached = number_of(text, files[i].cached);
        take_available(l, limit, used > cached ? used - cached : 0);
    }
}

/* ---- Limits of resources --------------------------------------------------------------------- */

static void take_resources(collet_memory_limit *l)
{
    static const struct {
        __rlimit_resource_t resource;
        const char *name, *used;
    } limits[] = {{RLIMIT_AS, "the limit of addresses (ulimit -v)", "VmSize"},
                  {RLIMIT_DATA, "the limit of data (ulimit -d)", "VmData"}};
    char text[TEXT] = "";
    (void)cgroup_read("/proc/self", "status", text, sizeof text);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit r;
        if (getrlimit(limits[i].resource, &r) || r.rlim_cur == RLIM_INFINITY ||
            r.rlim_cur >= l->machine)
            continue;
        take_total(l, r.rlim_cur, limits[i].name, "");
        take_available(l, r.rlim_cur, number_of(text, limits[i].used) << 10);
    }
}

void memory_limit_read(const char *root, const char *self, collet_memory_limit *limit)
{
    char text[TEXT];
    long page = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES);
    collet_memory_limit l = {.struct_size = sizeof l};
    l.machine = l.total = pages > 0 ? (uint64_t)pages * (uint64_t)page : 0;
    l.available = l.total;
    if (cgroup_read("/proc", "meminfo", text, sizeof text))
        l.available = number_of(text, "MemAvailable") << 10;
    cgroup_visit(root, self, "memory", take_group, &l);
    take_resources(&l);
    *limit = l;
}

uint64_t memory_limit_total(void)
{
    collet_memory_limit l;
    memory_limit_read(CGROUP_ROOT, NULL, &l);
    return l.total ? l.total : 1;
}

collet_status collet_memory_limit_read(collet_memory_limit *limit, collet_error *err)
{
    collet_memory_limit l;
    if (!limit)
        return collet_fail(err, COLLET_INVALID, "collet_memory_limit_read: limit is NULL");
    memory_limit_read(CGROUP_ROOT, NULL, &l);
    return struct_out(limit, &l, sizeof l, "collet_memory_limit", err);
}
