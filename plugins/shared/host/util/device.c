/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/verbs/device.c, conformance/verbs/memory.c */
#include "device.h"

#include <stdlib.h>
#include <string.h>

#include <collet/extensions.h>

/* Limits of the cache of plans. */
#define PLANS 64
#define PLAN_BYTES (64u << 20)

static host_device *base_of(collet_device *device)
{
    return (host_device *)(void *)device;
}

collet_status host_device_open(const collet_plugin *plugin, collet_device **device, uint64_t bytes,
                               collet_device_properties *properties, const collet_host *host,
                               uint32_t index, collet_error *err)
{
    if (index != 0)
        return host->fail(err, COLLET_UNAVAILABLE, "%s has only device 0; there is no device %u",
                          plugin->name, index);
    host_device *d = calloc(1, bytes);
    plan_cache *plans = plan_cache_create(PLANS, PLAN_BYTES);
    if (!d || !plans) {
        free(d);
        plan_cache_destroy(plans);
        return host->fail(err, COLLET_NO_MEMORY, "%s: out of memory while opening the device",
                          plugin->name);
    }
    d->host = host;
    d->plans = plans;
    properties->memory = COLLET_MEMORY_HOST;
    properties->order = COLLET_ORDER_SYNCHRONOUS;
    properties->threads = COLLET_THREADS_ANY;
    *device = (collet_device *)(void *)d;
    return COLLET_OK;
}

void host_device_close(collet_device *device)
{
    if (device)
        plan_cache_destroy(base_of(device)->plans);
    free(device);
}

static void trim(collet_device *device)
{
    host_device *d = base_of(device);
    if (d->trim)
        d->trim(device);
    plan_cache_trim(d->plans);
}

static const collet_trim_extension trim_extension = {sizeof trim_extension, 0, trim};

const void *host_extension(collet_device *device, const char *name)
{
    (void)device;
    return strcmp(name, COLLET_EXTENSION_TRIM) ? NULL : &trim_extension;
}
