/* SPDX-License-Identifier: Apache-2.0 */
/* A valid plugin whose kernels never return. */
#include <string.h>
#include <unistd.h>

#include <collet/plugin.h>

COLLET_PLUGIN_MANIFEST("manifest.json");

static const char capabilities_json[] =
    "{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 1,"
    " \"devices\": [{\"name\": \"hanging device\"}]}";

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    (void)host, (void)err;
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
    (void)index, (void)err;
    properties->memory = COLLET_MEMORY_HOST;
    properties->order = COLLET_ORDER_SYNCHRONOUS;
    properties->threads = COLLET_THREADS_ANY;
    *device = (collet_device *)(uintptr_t)host;
    return COLLET_OK;
}

static void device_close(collet_device *device)
{
    (void)device;
}

static collet_status hang(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call)
{
    (void)device, (void)queue, (void)call;
    while (pause() < 0)
        continue;
    return COLLET_FAILED;
}

#define ROW(OP) COLLET_ROW(OP, COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32), hang, NULL)
static const collet_kernel_row kernels[] = {ROW(ADD), ROW(SUB), ROW(MUL), ROW(DIV)};

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .kernel_count = sizeof kernels / sizeof *kernels,
    .kernel_size = sizeof(collet_kernel_row),
    .name = "hanging",
    .version = "0.1.0",
    .kernels = kernels,
    .capabilities = capabilities,
    .device_open = device_open,
    .device_close = device_close,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
