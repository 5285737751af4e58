/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A synchronous backend that uses the host's memory: the first template of plugins/README.md. Each
 * call is done when `run` returns.
 */
#include <collet/plugin.h>

#include <stdlib.h>
#include <string.h>

COLLET_PLUGIN_MANIFEST("manifest.json");

/*
 * example.clamp: out = the nearest number to a in [lower, upper]; NaN stays NaN. f32 and f64, any
 * shape; `out` may be exactly `a`. If lower > upper, or one of them is NaN, the call is REFUSED and nothing is written.
 */
typedef struct example_clamp_params {
    uint32_t struct_size; /* sizeof(example_clamp_params) */
    uint32_t reserved;    /* 0 */
    double lower;
    double upper;
} example_clamp_params;

/* ---- Device ------------------------------------------------------------------------------ */

struct collet_device {
    const collet_host *host;
    int log_calls;
};

static collet_status device_open(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *properties, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    (void)self;
    (void)name;
    if (index != 0)
        return host->fail(err, COLLET_UNAVAILABLE, "example has one device, not %u", index + 1);
    collet_device *d = calloc(1, sizeof *d);
    if (!d)
        return host->fail(err, COLLET_NO_MEMORY, "example: no memory to open the device");
    d->host = host;
    d->log_calls = !strcmp(host->config(host, "example.log_calls"), "on");
    properties->memory = COLLET_MEMORY_HOST;
    properties->order = COLLET_ORDER_SYNCHRONOUS;
    properties->threads = COLLET_THREADS_ANY;
    *device = d;
    return COLLET_OK;
}

static void device_close(collet_device *device)
{
    free(device);
}

static collet_status capabilities(const collet_plugin *self, char *json, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    (void)self;
    static const char text[] = "{\"jit\": false, \"parallel\": false, \"gpu\": false,"
                               " \"device_count\": 1, \"devices\": [{\"name\": \"CPU\"}]}";
    (void)host;
    (void)err;
    *needed = sizeof text;
    if (capacity >= sizeof text)
        memcpy(json, text, sizeof text);
    return COLLET_OK;
}

/* ---- Kernels ----------------------------------------------------------------------------- */

/* Operand i of a call, outputs first. */
static const collet_operand *operand(const collet_kernel_call *call, uint32_t i)
{
    const char *first = (const char *)call->operands;
    return (const collet_operand *)(const void *)(first + (size_t)i * call->operand_size);
}

/* The first element of a row. `row` counts all axes except the last; the last axis but one varies fastest. */
static char *row_start(const collet_operand *o, int64_t row, int64_t size)
{
    char *at = (char *)o->buffer + o->byte_offset;
    for (int32_t axis = o->ndim - 2; axis >= 0; axis--) {
        at += row % o->shape[axis] * o->strides[axis] * size;
        row /= o->shape[axis];
    }
    return at;
}

static double load(const char *at, collet_dtype dtype)
{
    return dtype == COLLET_F32 ? (double)*(const float *)(const void *)at
                               : *(const double *)(const void *)at;
}

static void store(char *at, collet_dtype dtype, double x)
{
    if (dtype == COLLET_F32)
        *(float *)(void *)at = (float)x;
    else
        *(double *)(void *)at = x;
}

/* out = f(inputs) for every element; all operands have one dtype, f32 or f64, and one shape. */
static void each_element(const collet_kernel_call *call,
                         double (*f)(const double *x, const void *params))
{
    const collet_operand *out = operand(call, 0);
    int64_t size = out->dtype == COLLET_F32 ? 4 : 8, rows = 1;
    int32_t last = out->ndim - 1;
    for (int32_t axis = 0; axis < last; axis++)
        rows *= out->shape[axis];
    for (int64_t row = 0; row < rows; row++) {
        char *at[3];
        for (uint32_t k = 0; k <= call->n_in; k++)
            at[k] = row_start(operand(call, k), row, size);
        for (int64_t i = 0; i < out->shape[last]; i++) {
            double x[2] = {0.0, 0.0};
            for (uint32_t k = 0; k < call->n_in; k++) {
                int64_t stride = operand(call, k + 1)->strides[last];
                x[k] = load(at[k + 1] + i * stride * size, out->dtype);
            }
            store(at[0] + i * out->strides[last] * size, out->dtype, f(x, call->params));
        }
    }
}

static double same(const double *x, const void *params)
{
    (void)params;
    return x[0];
}

static double sum(const double *x, const void *params)
{
    (void)params;
    return x[0] + x[1];
}

static double clamped(const double *x, const void *params)
{
    const example_clamp_params *p = params;
    if (x[0] < p->lower)
        return p->lower;
    return x[0] > p->upper ? p->upper : x[0];
}

static collet_status copy(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call)
{
    (void)device;
    (void)queue;
    each_element(call, same);
    return COLLET_OK;
}

static collet_status add(collet_device *device, collet_queue *queue, const collet_kernel_call *call)
{
    (void)device;
    (void)queue;
    each_element(call, sum);
    return COLLET_OK;
}

static collet_status clamp_accepts(collet_device *device, const collet_kernel_call *call,
                                   uint64_t *workspace_bytes)
{
    const example_clamp_params *p = call->params;
    (void)workspace_bytes;
    if (p->lower <= p->upper)
        return COLLET_OK;
    return device->host->fail(call->err, COLLET_REFUSED,
                              "example.clamp: %g to %g is not an interval", p->lower, p->upper);
}

static collet_status clamp(collet_device *device, collet_queue *queue,
                           const collet_kernel_call *call)
{
    const example_clamp_params *p = call->params;
    (void)queue;
    if (device->log_calls)
        device->host->log(device->host, COLLET_LOG_INFO, "example.clamp: %g to %g", p->lower,
                          p->upper);
    each_element(call, clamped);
    return COLLET_OK;
}

/* ---- Tables ------------------------------------------------------------------------------ */

static const collet_ops_field clamp_fields[] = {
    {"lower", "no element is less", NULL, 0, COLLET_FIELD_NUMBER, COLLET_F64,
     offsetof(example_clamp_params, lower), sizeof(double)},
    {"upper", "no element is more", NULL, 0, COLLET_FIELD_NUMBER, COLLET_F64,
     offsetof(example_clamp_params, upper), sizeof(double)},
};

static const collet_ops_definition ops[] = {
    {"example.clamp", "out[...] : a[...]", "f:f d:d", sizeof(example_clamp_params), 1, clamp_fields,
     2, sizeof *clamp_fields},
};

static const collet_kernel_row kernels[] = {
    COLLET_ROW(COPY, COLLET_SIG(COLLET_F32, COLLET_F32), copy, NULL),
    COLLET_ROW(COPY, COLLET_SIG(COLLET_F64, COLLET_F64), copy, NULL),
    COLLET_ROW(ADD, COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32), add, NULL),
    COLLET_ROW(ADD, COLLET_SIG(COLLET_F64, COLLET_F64, COLLET_F64), add, NULL),
    {COLLET_OWN_OP(0), 0, COLLET_SIG(COLLET_F32, COLLET_F32), sizeof(example_clamp_params), 0,
     clamp, clamp_accepts},
    {COLLET_OWN_OP(0), 0, COLLET_SIG(COLLET_F64, COLLET_F64), sizeof(example_clamp_params), 0,
     clamp, clamp_accepts},
};

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .kernel_count = sizeof kernels / sizeof kernels[0],
    .kernel_size = sizeof kernels[0],
    .op_count = sizeof ops / sizeof ops[0],
    .op_size = sizeof ops[0],
    .name = "example",
    .version = "1.0.0",
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
