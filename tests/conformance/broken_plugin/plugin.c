/* SPDX-License-Identifier: Apache-2.0 */
#include "broken.h"

#include <stdlib.h>
#include <string.h>

COLLET_PLUGIN_MANIFEST("manifest.json");

#define F COLLET_F32
#define D COLLET_F64
#define C COLLET_C64
#define Z COLLET_C128
#define B COLLET_I8
#define U COLLET_U8
#define I COLLET_I32
#define L COLLET_I64

#define DECLARE(OP, kernel, ...) KERNEL_HEAD_(kernel);
BROKEN_ROWS(DECLARE, DECLARE)
ACCEPTS_HEAD_(decompose);
ACCEPTS_HEAD_(fft);
ACCEPTS_HEAD_(ternary_linear);
#define host_nothing_accepts NULL

static collet_status run(collet_device *device, collet_queue *queue,
                         const collet_kernel_call *call);

#define CALL(OP, kernel, accepts, defect, ...)                                                     \
    {COLLET_ROW(OP, COLLET_SIG(__VA_ARGS__), run, host_##accepts##_accepts), host_##kernel,        \
     broken_##defect, NULL, 0},
#define VALUE(OP, kernel, accepts, defect, output, ...)                                            \
    {COLLET_ROW(OP, COLLET_SIG(__VA_ARGS__), run, host_##accepts##_accepts), host_##kernel,        \
     broken_right, broken_##defect, output},

static const struct row {
    collet_kernel_row row;
    broken_kernel *right;
    void (*call)(broken_call *m);
    double (*value)(const broken_call *m, int64_t i, double x);
    uint32_t output;
} rows[] = {BROKEN_ROWS(CALL, VALUE)};

static collet_status run(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    const struct row *row = rows;
    uint64_t present = 0;
    broken_call m = {.device = device, .queue = queue, .call = *call};
    for (uint32_t i = 0; i < call->n_out + call->n_in; i++) {
        m.o[i] = *operand_of(call, i);
        present |= COLLET_SIG_AT(i, operand_present(&m.o[i]) ? (1u << COLLET_SIG_BITS) - 1 : 0);
    }
    while (row->row.op != call->op || (row->row.sig ^ call->sig) & present)
        row++;
    m.right = row->right;
    m.call.operands = m.o;
    m.call.operand_size = sizeof *m.o;
    if (call->params) {
        memcpy(&m.params, call->params, call->params_size);
        m.call.params = &m.params;
    }
    row->call(&m);
    const collet_operand *out = &m.o[row->output];
    for (int64_t i = 0; row->value && operand_present(out) && i < operand_count(out); i++)
        broken_set(out, i, row->value(&m, i, broken_get(out, i)));
    free(m.kept);
    return m.status;
}

static const char capabilities_json[] =
    "{\"jit\": false, \"parallel\": false, \"gpu\": false, \"device_count\": 1,"
    " \"devices\": [{\"name\": \"broken device\"}]}";

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    *needed = sizeof capabilities_json;
    if (capacity >= sizeof capabilities_json)
        memcpy(json, capabilities_json, sizeof capabilities_json);
    return COLLET_OK;
}

static collet_status device_open(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    return host_device_open(self, device, sizeof **device, properties, host, index, err);
}

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof plugin,
    .kernel_count = sizeof rows / sizeof *rows,
    .kernel_size = sizeof *rows,
    .name = "broken",
    .version = "0.1.0",
    .kernels = &rows[0].row,
    .capabilities = capabilities,
    .device_open = device_open,
    .device_close = host_device_close,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
