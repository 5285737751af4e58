/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/conformance/test_kit.c */
#include <string.h>

#include "device.h"
#include "shared/host/util/plugin_head.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#include "rows/cpu_scalar.inc"

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
    (void)name;
    return host_device_open(self, device, sizeof **device, properties, host, index, err);
}

static const collet_plugin plugin = {
    PLUGIN_HEAD("cpu_scalar", kernels), .capabilities = capabilities, .device_open = device_open,
    .device_close = host_device_close,  .extension = host_extension,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
