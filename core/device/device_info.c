/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_device_info.c, tests/core/test_select.c */
#include "device_info.h"

#include <string.h>

#include "calibration.h"
#include "open.h"
#include "util/json.h"
#include "util/memory_limit.h"
#include "util/struct.h"

size_t collet_backend_count(const collet_runtime *r)
{
    PROGRAM_CALL(0, NULL, r);
    return r->backend_count;
}

collet_status collet_backend_info_at(const collet_runtime *r, collet_backend_info *info,
                                     size_t index, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    collet_status status = runtime_query(r, info, "collet_backend_info_at", err);
    if (status != COLLET_OK)
        return status;
    if (index >= r->backend_count)
        return runtime_beyond(index, r->backend_count, "backend", err);
    backend *b = &r->backends[index];
    const loader_plugin *p = b->plugin;
    /* Load the state first: it publishes the results of opening. */
    int state = backend_state(b), known = state != COLLET_BACKEND_UNPROVEN;
    const char *capabilities = p->capabilities ? p->capabilities : known ? b->capabilities : NULL;
    collet_backend_info full = {.state = state,
                                .name = p->name,
                                .version = p->manifest.version,
                                .abi = p->manifest.abi,
                                .priority = p->manifest.priority,
                                .jit = p->manifest.jit,
                                .parallel = p->manifest.parallel,
                                .gpu = p->manifest.gpu,
                                .device_count = known ? b->device_count : 0,
                                .kernel_count = (uint32_t)p->manifest.kernel_count,
                                .named_devices = p->manifest.named_devices,
                                .path = p->path,
                                .reason = backend_reason(b, state),
                                .capabilities = capabilities ? capabilities : "",
                                .calibration = b->calibration ? b->calibration->path : ""};
    return struct_out(info, &full, sizeof full, "collet_backend_info", err);
}

#define MOST ((int64_t)1 << 53)

static uint64_t number(const cJSON *described, const char *key, int64_t most)
{
    int64_t value;
    return json_integer(described, key, 0, most, &value) ? (uint64_t)value : 0;
}

static const char *string(const cJSON *described, const char *key)
{
    const char *value = json_string(described, key);
    return value ? value : "";
}

static uint32_t memory_of(const device *d, const cJSON *described)
{
    int state = atomic_load(&d->state);
    const char *space = string(described, "memory_space");
    if (state == DEVICE_OPEN || state == DEVICE_LOST)
        return d->space ? COLLET_MEMORY_OWN : COLLET_MEMORY_HOST;
    return !strcmp(space, "own")    ? COLLET_MEMORY_OWN
           : !strcmp(space, "host") ? COLLET_MEMORY_HOST
                                    : COLLET_MEMORY_UNKNOWN;
}

static int32_t execution_of(const device *d, const cJSON *described)
{
    int state = atomic_load(&d->state), known;
    int32_t asynchronous;
    if (state == DEVICE_OPEN || state == DEVICE_LOST) {
        known = 1;
        asynchronous = !d->synchronous;
    } else {
        known = json_boolean(described, "asynchronous", &asynchronous);
    }
    return !known         ? COLLET_EXECUTION_UNKNOWN
           : asynchronous ? COLLET_EXECUTION_ASYNCHRONOUS
                          : COLLET_EXECUTION_SYNCHRONOUS;
}

static int32_t kind_of(const device *d, const cJSON *described, uint32_t memory)
{
    const char *type = string(described, "type");
    if (*type)
        return !strcmp(type, "cpu")   ? COLLET_DEVICE_CPU
               : !strcmp(type, "gpu") ? COLLET_DEVICE_GPU
                                      : COLLET_DEVICE_OTHER;
    if (d->owner->plugin->manifest.gpu)
        return COLLET_DEVICE_GPU;
    return memory == COLLET_MEMORY_HOST ? COLLET_DEVICE_CPU : COLLET_DEVICE_UNKNOWN;
}

static const cJSON *description_of(const device *d)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(d->owner->description, "devices"),
                              (int)d->index);
}

int device_is_processor(const device *d)
{
    return d->index != DEVICE_NAMED && !strcmp(string(description_of(d), "type"), "cpu");
}

uint64_t device_memory_bytes(const device *d)
{
    uint64_t bytes = number(description_of(d), "memory_total", MOST);
    uint64_t most = bytes && device_is_processor(d) ? memory_limit_total() : bytes;
    return most < bytes ? most : bytes;
}

collet_status collet_device_info_at(const collet_runtime *r, collet_device_info *info, size_t index,
                                    size_t number_of, collet_error *err)
{
    PROGRAM_CALL(COLLET_INVALID, err, r);
    collet_status status = runtime_query(r, info, "collet_device_info_at", err);
    if (status != COLLET_OK)
        return status;
    if (index >= r->backend_count)
        return runtime_beyond(index, r->backend_count, "backend", err);
    const backend *b = &r->backends[index];
    /* Load the state first: it publishes the devices and their description. */
    int usable = atomic_load(&b->state) == COLLET_BACKEND_USABLE;
    if (!usable || number_of >= b->device_count)
        return runtime_beyond(number_of, usable ? b->device_count : 0, "usable device", err);
    const device *d = &b->devices[number_of];
    const cJSON *described = description_of(d);
    uint32_t memory = memory_of(d, described);
    collet_device_info full = {
        .kind = kind_of(d, described, memory),
        .memory = memory,
        .execution = execution_of(d, described),
        .choice = d->name,
        .name = string(described, "name"),
        .vendor = string(described, "vendor"),
        .driver = string(described, "driver_version"),
        .memory_bytes = device_memory_bytes(d),
        .largest_array = number(described, "memory_largest_buffer", MOST),
        .cache_bytes = number(described, "cache_bytes", MOST),
        .compute_units = (uint32_t)number(described, "compute_units", UINT32_MAX),
        .clock_mhz = (uint32_t)number(described, "clock_mhz", UINT32_MAX),
    };
    if (memory == COLLET_MEMORY_HOST && !full.memory_bytes)
        full.memory_bytes = memory_limit_total();
    return struct_out(info, &full, sizeof full, "collet_device_info", err);
}
