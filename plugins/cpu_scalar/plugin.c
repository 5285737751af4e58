/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include <stdlib.h>
#include <string.h>

#include <collet/extensions.h>

#include "shared/host/util/kernel_table.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

/* Limits of the plan cache of a device. */
#define PLANS 32
#define PLAN_BYTES (64u << 20)

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* ---- The table of kernels ---------------------------------------------------------------- */

/* clang-format off */
#define ROW(OP, run, ...) KERNEL(run);
#define ASK(OP, run, accepts, ...)                                                                 \
    KERNEL(run);                                                                                   \
    ACCEPTS(accepts);
#include "kernels.def"
#undef ROW
#undef ASK

#define ROW(OP, run, ...) COLLET_ROW(OP, COLLET_SIG(__VA_ARGS__), scalar_##run, NULL),
#define ASK(OP, run, accepts, ...)                                                                 \
    COLLET_ROW(OP, COLLET_SIG(__VA_ARGS__), scalar_##run, scalar_##accepts##_accepts),
static const collet_kernel_row kernels[] = {
#include "kernels.def"
};
/* clang-format on */

/* ---- The device -------------------------------------------------------------------------- */

static const char capabilities_json[] =
    "{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 1,"
    " \"devices\": [{\"name\": \"CPU, one thread\", \"memory_space\": \"host\","
    " \"asynchronous\": false, \"compute_units\": 1}]}";

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    (void)host;
    (void)err;
    *needed = sizeof capabilities_json;
    if (capacity >= sizeof capabilities_json)
        memcpy(json, capabilities_json, sizeof capabilities_json);
    return COLLET_OK;
}

static collet_status device_open(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    (void)self;
    (void)name;
    if (index != 0) {
        return host->fail(err, COLLET_UNAVAILABLE,
                          "cpu_scalar has only device 0; there is no device %u", index);
    }
    collet_device *d = calloc(1, sizeof *d);
    plan_cache *plans = plan_cache_create(PLANS, PLAN_BYTES);
    if (!d || !plans) {
        free(d);
        plan_cache_destroy(plans);
        return host->fail(err, COLLET_NO_MEMORY,
                          "cpu_scalar: out of memory while opening the device");
    }
    d->host = host;
    d->plans = plans;
    properties->memory = COLLET_MEMORY_HOST;
    properties->order = COLLET_ORDER_SYNCHRONOUS;
    properties->threads = COLLET_THREADS_ANY;
    *device = d;
    return COLLET_OK;
}

static void device_close(collet_device *device)
{
    if (device)
        plan_cache_destroy(device->plans);
    free(device);
}

static void trim(collet_device *device)
{
    plan_cache_trim(device->plans);
}

static const collet_trim_extension trim_extension = {sizeof trim_extension, 0, trim};

static const void *extension(collet_device *device, const char *name)
{
    (void)device;
    return strcmp(name, COLLET_EXTENSION_TRIM) ? NULL : &trim_extension;
}

/* ---- The plugin -------------------------------------------------------------------------- */

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .kernel_count = COUNT(kernels),
    .kernel_size = sizeof(collet_kernel_row),
    .name = "cpu_scalar",
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
