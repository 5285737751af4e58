/* SPDX-License-Identifier: Apache-2.0 */
/* A valid plugin with the op vendor.own and VENDOR_DEVICES (0 or 1) devices. */
#include <string.h>

#include <collet/plugin.h>

COLLET_PLUGIN_MANIFEST("manifest.json");

static const char capabilities_json[] =
#if VENDOR_DEVICES
    "{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 1,"
    " \"devices\": [{\"name\": \"vendor device\"}]}";
#else
    "{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 0, \"devices\": [],"
    " \"reason\": \"no card found\"}";
#endif

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
    if ((uint64_t)index + 1 > VENDOR_DEVICES)
        return host->fail(err, COLLET_UNAVAILABLE, "vendor: no device %u", index);
    host->log(host, COLLET_LOG_WARNING, "vendor: the card is hot");
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

static collet_status refuse(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call)
{
    const collet_host *host = (const collet_host *)(uintptr_t)device;
    (void)queue;
    return host->fail(call->err, COLLET_REFUSED, "vendor: every call is refused");
}

static const collet_ops_definition ops[] = {
    {.name = "vendor.own", .shapes = "... : ...", .sigs = "f:f d:d", .alias = 1}};
static const collet_kernel_row kernels[] = {
    {.op = COLLET_OWN_OP(0), .sig = COLLET_SIG(COLLET_F32, COLLET_F32), .run = refuse},
};

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .kernel_count = 1,
    .kernel_size = sizeof(collet_kernel_row),
    .op_count = 1,
    .op_size = sizeof(collet_ops_definition),
    .name = "vendor",
    .version = "0.1.0",
    .kernels = kernels,
    .ops = ops,
    .capabilities = capabilities,
    .device_open = device_open,
    .device_close = device_close,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
