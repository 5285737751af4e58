/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of frozen_1_0.x86_64.so, compiled once, with interface 1.0, and
 * never again: libcore must still load the binary. For reading only. Compiled by
 *   gcc -std=gnu11 -O2 -fPIC -shared -fvisibility=hidden -s -Wa,-I,tests/abi/frozen \
 *       -Wl,--version-script=cmake/plugin.map -Iinclude tests/abi/frozen/plugin_1_0.c \
 *       -o tests/abi/frozen/frozen_1_0.x86_64.so
 */
#include <collet/plugin.h>

COLLET_PLUGIN_MANIFEST("manifest_1_0.json");

static const collet_host *seen_host;

static collet_status capabilities(const collet_host *host, char *json, uint64_t capacity,
                                  uint64_t *needed, collet_error *err)
{
    static const char text[] = "{\"jit\": false, \"parallel\": false, \"gpu\": false,"
                               " \"device_count\": 1, \"devices\": [{\"name\": \"frozen\"}]}";
    (void)host;
    (void)err;
    *needed = sizeof text;
    for (uint64_t i = 0; i < sizeof text && capacity >= sizeof text; i++)
        json[i] = text[i];
    return COLLET_OK;
}

static collet_status device_open(const collet_host *host, uint32_t index, collet_device **device,
                                 collet_error *err)
{
    static char memory;
    (void)index;
    (void)err;
    seen_host = host;
    host->log(host, COLLET_LOG_INFO, "frozen_1_0 has %d threads", (int)host->threads(host));
    *device = (collet_device *)(void *)&memory;
    return COLLET_OK;
}

static void device_close(collet_device *device)
{
    (void)device;
}

/* f32 addition of one merged axis; more are refused, to test refusals too. */
static collet_status add(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    const collet_operand *o = call->operands;
    (void)device;
    (void)queue;
    if (o[0].ndim != 1)
        return seen_host->fail(call->err, COLLET_REFUSED, "frozen: %d axes", (int)o[0].ndim);
    float *out = (float *)((char *)o[0].buffer + o[0].byte_offset);
    const float *a = (const float *)((const char *)o[1].buffer + o[1].byte_offset);
    const float *b = (const float *)((const char *)o[2].buffer + o[2].byte_offset);
    for (int64_t i = 0; i < o[0].shape[0]; i++)
        out[i * o[0].strides[0]] = a[i * o[1].strides[0]] + b[i * o[2].strides[0]];
    return COLLET_OK;
}

/* out = a + params.value, with scratch as big as the output. */
typedef struct shift_params {
    uint32_t struct_size;
    float value;
} shift_params;

static uint64_t shift_workspace(collet_device *device, const collet_kernel_call *call)
{
    (void)device;
    return (uint64_t)call->operands[0].shape[0] * sizeof(float);
}

static collet_status shift(collet_device *device, collet_queue *queue,
                           const collet_kernel_call *call)
{
    const collet_operand *o = call->operands;
    const shift_params *p = call->params;
    float *scratch = call->workspace;
    float *out = (float *)((char *)o[0].buffer + o[0].byte_offset);
    const float *a = (const float *)((const char *)o[1].buffer + o[1].byte_offset);
    (void)device;
    (void)queue;
    if (o[0].ndim != 1 || call->workspace_bytes < (uint64_t)o[0].shape[0] * sizeof *scratch)
        return COLLET_REFUSED;
    for (int64_t i = 0; i < o[0].shape[0]; i++)
        scratch[i] = a[i * o[1].strides[0]] + p->value;
    for (int64_t i = 0; i < o[0].shape[0]; i++)
        out[i * o[0].strides[0]] = scratch[i];
    return COLLET_OK;
}

static const collet_op_definition ops[] = {
    {"frozen.shift", "... : ...", "f:f", sizeof(shift_params), 1},
};

static const collet_kernel_row kernels[] = {
    {COLLET_OP_ADD, 0, COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32), add, NULL},
    {COLLET_OP_OWN(0), 0, COLLET_SIG(COLLET_F32, COLLET_F32), shift, shift_workspace},
};

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof plugin,
    .flags = COLLET_PLUGIN_HOST_MEMORY | COLLET_PLUGIN_SYNCHRONOUS,
    .kernel_count = sizeof kernels / sizeof *kernels,
    .kernel_size = sizeof *kernels,
    .op_count = sizeof ops / sizeof *ops,
    .op_size = sizeof *ops,
    .name = "frozen_1_0",
    .version = "1.0",
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
