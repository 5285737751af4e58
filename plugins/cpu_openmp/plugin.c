/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_kernels_openmp.c, tests/fault/test_allocation_ops.c */
#include "cpu_openmp/runtime/device.h"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/extensions.h>

#include "cpu_openmp/levels.h"
#include "cpu_openmp/linalg/explain.h"
#include "cpu_openmp/linalg/measure.h"
#include "cpu_openmp/providers/choice.h"
#include "cpu_openmp/providers/library.h"
#include "cpu_openmp/providers/onednn.h"
#include "cpu_openmp/providers/ways.h"
#include "cpu_openmp/runtime/cache.h"
#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/plugin_head.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#include "rows/cpu_openmp.inc"

/* ---- The device ------------------------------------------------------------------------------ */

/* What limits the number of threads. The process of the probe has the CPU affinity of the thread that created
 * the runtime. */
static const char *threads_reason(const collet_host *host, int32_t threads)
{
    const char *set = host->config(host, "num_threads");
    int32_t allowed = host->threads(host);
    cpu_set_t own;
    int affinity = sched_getaffinity(0, sizeof own, &own) == 0 ? CPU_COUNT(&own) : 0;
    if (threads < allowed)
        return "OMP_NUM_THREADS";
    if (set && strtol(set, NULL, 10) == allowed)
        return "the setting num_threads";
    if (affinity && allowed > affinity)
        return "the places of OpenMP (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY)";
    if (allowed == sysconf(_SC_NPROCESSORS_ONLN))
        return "the processors of the machine";
    return allowed == affinity ? "the processor affinity of the program"
                               : "the processor quota of the cgroup";
}

/* Adds the libraries and the choices to the capabilities. The choices say why a library is refused, and hold the
 * measured rates. */
static void describe_libraries(const collet_host *host, const isa_level *level, text *json)
{
    static pthread_mutex_t measuring = PTHREAD_MUTEX_INITIALIZER;
    static char measured[4096]; /* set once per process */
    char members[8192];
    /* The rates are measured only in a probe, because other processes do not read them from the capabilities. */
    const char *wanted = host->config(host, "in_probe") ? host->config(host, "measure") : NULL;
    text choices = {.at = members, .capacity = sizeof members};
    text rates = {.at = measured, .capacity = sizeof measured};
    uint32_t types;
    choice_describe(host, level, json, &choices, &types);
    (void)pthread_mutex_lock(&measuring);
    if (!measured[0] && wanted && strcmp(wanted, "on") == 0)
        measure_products(level, levels_narrow(level), types, &rates);
    choice_add(&choices, "measured", measured);
    (void)pthread_mutex_unlock(&measuring);
    text_add(json, ", \"choices\": {%s}", members);
}

static void describe(const collet_host *host, text *json)
{
    const char *reason = "";
    const isa_level *level = levels_select(host->config(host, "isa"), &reason);
    char name[64];
    isa_processor_name(name, sizeof name);
    text_add(json, "{\"jit\": false, \"parallel\": true, \"gpu\": false, ");
    if (!level) {
        text_add(json, "\"device_count\": 0, \"devices\": [], \"reason\": ");
        text_quote(json, reason);
        text_add(json, "}");
        return;
    }
    text_add(json, "\"device_count\": 1, \"devices\": [{\"name\": ");
    text_quote(json, name[0] ? name : "CPU");
    int threads = team_threads(host->threads(host));
    text_add(json,
             ", \"isa\": \"%s\", \"threads\": %d, \"threads_limit\": \"%s\", "
             "\"memory_space\": \"host\", \"asynchronous\": false, \"compute_units\": %d}], ",
             level->name, threads, threads_reason(host, threads), threads);
    describe_libraries(host, level, json);
    text_add(json, "}");
}

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    text t = {json, capacity, 0};
    (void)err;
    describe(host, &t);
    *needed = t.used + 1;
    return COLLET_OK;
}

/* Initialises the program's OpenMP runtime, which may be clang's, by a first call. */
static void call_openmp(void)
{
    (void)omp_get_proc_bind();
}

static void trim(collet_device *device)
{
    if (device->plans)
        onednn_plans_clear(device->plans);
}

static void share(collet_device *device, int64_t count, int64_t grain, host_body body,
                  void *argument)
{
    team_run(device->threads, count, grain, body, argument);
}

static collet_status device_open(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    (void)name;
    const char *reason = "";
    const isa_level *level = levels_select(host->config(host, "isa"), &reason);
    if (!level)
        return host->fail(err, COLLET_UNAVAILABLE, "cpu_openmp: %s", reason);
    collet_status status =
        host_device_open(self, device, sizeof **device, properties, host, index, err);
    if (status != COLLET_OK)
        return status;
    collet_device *d = *device;
    ways *measured = malloc(sizeof *measured);
    if (!measured) {
        host_device_close(*device);
        return host->fail(err, COLLET_NO_MEMORY,
                          "cpu_openmp: out of memory while opening the device");
    }
    library_initialise(call_openmp);
    d->base.trim = trim;
    choice_settle(host, level);
    ways_read(measured, host, &openmp_ways, 1);
    d->ways = measured;
    d->plans = onednn_plans_create();
    limit_follow(&d->limit, host);
    d->level = level;
    d->narrow = levels_narrow(level);
    d->ternary = levels_ternary(level);
    d->threads = team_threads(host->threads(host));
    d->base.threads = d->threads;
    d->base.share = share;
    d->cache_bytes = cache_largest();
    return COLLET_OK;
}

static void device_close(collet_device *device)
{
    if (!device)
        return;
    limit_unfollow(&device->limit);
    onednn_plans_free(device->plans);
    free(device->ways);
    host_device_close(device);
}

/* ---- Extensions ------------------------------------------------------------------------------ */

static void explain(collet_device *device, const collet_kernel_call *call, char *words,
                    uint64_t capacity)
{
    text out = {.at = words, .capacity = capacity};
    words[0] = '\0';
    if (call->op == COLLET_OP_MATMUL)
        explain_matmul(device, call, &out);
    else if (call->op == COLLET_OP_LU || call->op == COLLET_OP_SOLVE || call->op == COLLET_OP_QR ||
             call->op == COLLET_OP_SVD || call->op == COLLET_OP_EIGH || call->op == COLLET_OP_EIG ||
             call->op == COLLET_OP_CHOLESKY)
        explain_decomposition(device, call, &out);
}

static const collet_explain_extension explain_extension = {sizeof explain_extension, 0, explain};

static const void *extension(collet_device *device, const char *name)
{
    return strcmp(name, COLLET_EXTENSION_EXPLAIN) == 0 ? &explain_extension
                                                       : host_extension(device, name);
}

/* ---- The plugin ------------------------------------------------------------------------------ */

static const collet_plugin plugin = {
    PLUGIN_HEAD("cpu_openmp", kernels), .capabilities = capabilities, .device_open = device_open,
    .device_close = device_close,       .extension = extension,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
