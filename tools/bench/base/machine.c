/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include "machine.h"

#include <collet/collet.h>

#include "common/json_add.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define CACHES_MAX 16

/* Finds the first line "key...: value" of a file; 0 if there is none. */
static int32_t find_line(const char *path, const char *key, char *value, size_t capacity)
{
    char line[512];
    int32_t found = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    while (!found && fgets(line, sizeof line, file)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, key, strlen(key)) || !colon)
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        snprintf(value, capacity, "%.*s", (int)strcspn(colon, "\n"), colon);
        found = 1;
    }
    fclose(file);
    return found;
}

static uint64_t cache_bytes(int index)
{
    char path[96], unit = '\0';
    unsigned long long size = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%llu%c", &size, &unit) < 1)
        size = 0;
    fclose(file);
    return unit == 'K' ? size << 10 : unit == 'M' ? size << 20 : size;
}

static int32_t allowed_cpus(void)
{
    cpu_set_t set;
    if (!sched_getaffinity(0, sizeof set, &set))
        return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int32_t)online : 1;
}

void bench_machine_describe(bench_machine *m, int32_t limit)
{
    struct utsname name;
    collet_memory_limit memory = {.struct_size = sizeof memory};
    (void)collet_memory_limit_read(&memory, NULL);
    *m = (bench_machine){.allowed_cpus = allowed_cpus(),
                         .memory_bytes = memory.machine,
                         .available_bytes = memory.available};
    m->threads = limit > 0 && limit < m->allowed_cpus ? limit : m->allowed_cpus;
    strcpy(m->host, "unknown");
    strcpy(m->kernel, "unknown");
    if (!uname(&name)) {
        snprintf(m->host, sizeof m->host, "%.200s", name.nodename);
        snprintf(m->kernel, sizeof m->kernel, "%.100s %.100s", name.sysname, name.release);
    }
    if (!find_line("/proc/cpuinfo", "model name", m->cpu, sizeof m->cpu))
        snprintf(m->cpu, sizeof m->cpu, "%s", name.machine);
#ifdef __clang__
    snprintf(m->compiler, sizeof m->compiler, "clang %d.%d", __clang_major__, __clang_minor__);
#else
    snprintf(m->compiler, sizeof m->compiler, "gcc %d.%d", __GNUC__, __GNUC_MINOR__);
#endif
    for (int i = 0; i < CACHES_MAX; i++) {
        uint64_t bytes = cache_bytes(i);
        m->last_cache_bytes = bytes > m->last_cache_bytes ? bytes : m->last_cache_bytes;
    }
}

cJSON *bench_machine_json(const bench_machine *m)
{
    cJSON *object = cJSON_CreateObject();
    if (object && json_add_text(object, "name", m->host) && json_add_text(object, "cpu", m->cpu) &&
        json_add_text(object, "kernel", m->kernel) &&
        json_add_text(object, "compiler", m->compiler) &&
        json_add_number(object, "allowed_cpus", m->allowed_cpus) &&
        json_add_number(object, "threads", m->threads) &&
        json_add_number(object, "last_cache_bytes", (double)m->last_cache_bytes) &&
        json_add_number(object, "memory_bytes", (double)m->memory_bytes))
        return object;
    cJSON_Delete(object);
    return NULL;
}
