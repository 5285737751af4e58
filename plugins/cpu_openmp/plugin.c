/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu_openmp/runtime/device.h"

#include <omp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/extensions.h>

#include "cpu_openmp/providers/choice.h"
#include "cpu_openmp/providers/library.h"
#include "cpu_openmp/providers/onednn.h"
#include "cpu_openmp/runtime/cache.h"
#include "cpu_openmp/runtime/processor.h"
#include "cpu_openmp/runtime/team.h"
#include "shared/host/util/kernel_table.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

/* Limits of the plan cache of a device. */
#define PLANS 64
#define PLAN_BYTES (64u << 20)

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- The table of kernels -------------------------------------------------------------------- */

/* clang-format off */
#define ROW(OP, run, ...) KERNEL(run);
#define ASK(OP, run, accepts, ...)                                                                 \
    KERNEL(run);                                                                                   \
    ACCEPTS(accepts);
#include "kernels.def"
#undef ROW
#undef ASK

#define ROW(OP, run, ...) COLLET_ROW(OP, COLLET_SIG(__VA_ARGS__), openmp_##run, NULL),
#define ASK(OP, run, accepts, ...)                                                                 \
    COLLET_ROW(OP, COLLET_SIG(__VA_ARGS__), openmp_##run, openmp_##accepts##_accepts),
static const collet_kernel_row kernels[] = {
#include "kernels.def"
};
/* clang-format on */

/* ---- The device ------------------------------------------------------------------------------ */

/* Why there are not more threads. The probe has the affinity of the thread that made the runtime.
 */
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
        return "the places of OMP_PROC_BIND, OMP_PLACES or their like";
    if (allowed == sysconf(_SC_NPROCESSORS_ONLN))
        return "the processors of the machine";
    return allowed == affinity ? "the processor affinity of the program"
                               : "the processor quota of the cgroup";
}

static void describe(const collet_host *host, text *json)
{
    const char *reason = "";
    const isa_level *level = isa_select(host->config(host, "isa"), &reason);
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
    choice_describe(host, level, json);
    text_add(json, "}");
}

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    text measured = {.at = NULL}, written = {.at = json, .capacity = capacity};
    (void)err;
    describe(host, &measured);
    *needed = measured.used + 1;
    if (capacity >= *needed)
        describe(host, &written);
    return COLLET_OK;
}

/* The program's OpenMP runtime, which may be clang's, initialises itself in its first call. */
static void call_openmp(void)
{
    (void)omp_get_proc_bind();
}

static collet_status device_open(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    (void)self;
    (void)name;
    const char *reason = "";
    if (index != 0) {
        return host->fail(err, COLLET_UNAVAILABLE,
                          "cpu_openmp has only device 0; there is no device %u", index);
    }
    const isa_level *level = isa_select(host->config(host, "isa"), &reason);
    if (!level)
        return host->fail(err, COLLET_UNAVAILABLE, "cpu_openmp: %s", reason);
    collet_device *d = calloc(1, sizeof *d);
    plan_cache *ffts = plan_cache_create(PLANS, PLAN_BYTES);
    if (!d || !ffts) {
        free(d);
        plan_cache_destroy(ffts);
        return host->fail(err, COLLET_NO_MEMORY,
                          "cpu_openmp: out of memory while opening the device");
    }
    library_initialise(call_openmp);
    d->onednn = choice_settle(host, level);
    d->plans = onednn_plans_create();
    d->ffts = ffts;
    d->host = host;
    limit_follow(&d->limit, host);
    d->level = level;
    d->narrow = processor_narrow(level);
    d->ternary = processor_ternary(level);
    d->threads = team_threads(host->threads(host));
    d->cache_bytes = cache_largest();
    properties->memory = COLLET_MEMORY_HOST;
    properties->order = COLLET_ORDER_SYNCHRONOUS;
    properties->threads = COLLET_THREADS_ANY;
    *device = d;
    return COLLET_OK;
}

static void device_close(collet_device *device)
{
    if (!device)
        return;
    limit_unfollow(&device->limit);
    onednn_plans_free(device->plans);
    plan_cache_destroy(device->ffts);
    free(device);
}

static void trim(collet_device *device)
{
    if (device->plans)
        onednn_plans_clear(device->plans);
    plan_cache_trim(device->ffts);
}

static const collet_trim_extension trim_extension = {sizeof trim_extension, 0, trim};

static const void *extension(collet_device *device, const char *name)
{
    (void)device;
    return strcmp(name, COLLET_EXTENSION_TRIM) ? NULL : &trim_extension;
}

/* ---- The plugin ------------------------------------------------------------------------------ */

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .kernel_count = COUNT(kernels),
    .kernel_size = sizeof(collet_kernel_row),
    .name = "cpu_openmp",
    .version = "0.1.0",
    .kernels = kernels,
    .capabilities = capabilities,
    .device_open = device_open,
    .device_close = device_close,
    .extension = extension,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
