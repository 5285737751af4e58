/* SPDX-License-Identifier: Apache-2.0 */
/* A backend on host memory: add crashes, sub hangs, mul exits, div fails, and abs refuses only when it
 * runs. neg and copy compute contiguous f32. fill writes the number of calls of its `accepts`, which
 * refuses arrays of 5 numbers. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <collet/plugin.h>

COLLET_PLUGIN_MANIFEST("bad.json");

struct collet_device {
    const collet_host *host;
    int asked;
};

static void crash(void)
{
    signal(SIGSEGV, SIG_DFL); /* a sanitizer would exit */
    raise(SIGSEGV);
}

static collet_status run(collet_device *d, collet_queue *q, const collet_kernel_call *call)
{
    const collet_operand *out = call->operands, *in = out + 1;
    float *to = (void *)((char *)out->buffer + out->byte_offset);
    if (call->op == COLLET_OP_FILL) {
        for (int64_t i = 0; i < out->shape[0]; i++)
            to[i] = (float)d->asked;
        return COLLET_OK;
    }
    const float *from = (const void *)((const char *)in->buffer + in->byte_offset);
    switch (call->op) {
    case COLLET_OP_ADD:
        crash();
        break;
    case COLLET_OP_SUB:
        for (;;)
            pause();
    case COLLET_OP_MUL:
        _exit(7);
    case COLLET_OP_DIV:
        return d->host->fail(call->err, COLLET_FAILED, "the card \n is on fire");
    case COLLET_OP_ABS:
        return d->host->fail_text(call->err, COLLET_REFUSED, "not today: %s");
    default:
        for (int64_t i = 0; i < out->shape[0]; i++)
            to[i] = call->op == COLLET_OP_NEG ? -from[i] : from[i];
    }
    return COLLET_OK;
}

static collet_status accepts(collet_device *d, const collet_kernel_call *call,
                             uint64_t *workspace_bytes)
{
    d->asked++;
    *workspace_bytes = 64;
    return call->operands->shape[0] == 5 ? d->host->fail(call->err, COLLET_REFUSED, "never 5")
                                         : COLLET_OK;
}

static const char json[] = "{\"jit\": false, \"parallel\": false, \"gpu\": false,"
                           " \"device_count\": 1, \"devices\": [{\"name\": \"bad\"}]}";

static collet_status capabilities(const collet_plugin *self, char *to, uint64_t capacity,
                                  uint64_t *needed, const collet_host *host, collet_error *err)
{
    *needed = sizeof json;
    if (capacity >= sizeof json)
        memcpy(to, json, sizeof json);
    return COLLET_OK;
}

static collet_status device_open(const collet_plugin *self, collet_device **device,
                                 collet_device_properties *of, const collet_host *host,
                                 uint32_t index, const char *name, collet_error *err)
{
    static collet_device only;
    const char *how = host->config(host, "bad.open");
    if (!strcmp(how, "crash"))
        crash();
    if (!strcmp(how, "exit"))
        exit(3);
    host->log_text(host, COLLET_LOG_WARNING, "bad\x1b[31m opens 100 %s");
    only.host = host;
    of->memory = COLLET_MEMORY_HOST;
    of->order = COLLET_ORDER_SYNCHRONOUS;
    of->threads = COLLET_THREADS_ONE;
    *device = &only;
    return COLLET_OK;
}

static void device_close(collet_device *d)
{
}

#define ONE COLLET_SIG(COLLET_F32)
#define TWO COLLET_SIG(COLLET_F32, COLLET_F32)
#define THREE COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32)
static const collet_kernel_row rows[] = {
    COLLET_ROW(COPY, TWO, run, NULL),  COLLET_ROW(ADD, THREE, run, NULL),
    COLLET_ROW(SUB, THREE, run, NULL), COLLET_ROW(MUL, THREE, run, NULL),
    COLLET_ROW(DIV, THREE, run, NULL), COLLET_ROW(NEG, TWO, run, NULL),
    COLLET_ROW(ABS, TWO, run, NULL),   COLLET_ROW(FILL, ONE, run, accepts),
};

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .kernel_count = sizeof rows / sizeof *rows,
    .kernel_size = sizeof *rows,
    .name = "bad",
    .version = "1.0",
    .kernels = rows,
    .capabilities = capabilities,
    .device_open = device_open,
    .device_close = device_close,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return &plugin;
}
