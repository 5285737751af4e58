/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/opencl/test_opencl_driver.c, tests/opencl/test_opencl.c */
#include "opencl.h"
#include "ways.h"

#include <stdlib.h>

#include "shared/host/util/plugin_head.h"
#include "shared/jit/texts.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#include "rows/opencl.inc"

/* ---- The device ------------------------------------------------------------------------------ */

/* Sets d->ways. Rates measured on the first device also apply to other devices of the same name. */
static collet_status read_ways(collet_device *d, cl_device_id first, collet_error *err)
{
    const collet_host *host = d->base.host;
    d->ways = malloc(sizeof *d->ways);
    if (!d->ways)
        return host->fail(err, COLLET_NO_MEMORY, "opencl: out of memory while opening the device");
    ways_read(d->ways, host, &opencl_ways, opencl_same_model(&d->cl, first, d->id));
    return COLLET_OK;
}

static collet_status find_device(collet_device *d, uint32_t index, collet_error *err)
{
    cl_device_id ids[OPENCL_DEVICES];
    char reason[OPENCL_REASON] = "";
    collet_status status = opencl_driver_open(d->base.host, &d->cl, err);
    if (status != COLLET_OK)
        return status;
    uint32_t count = opencl_find_devices(&d->cl, ids, reason);
    if (!count)
        return d->base.host->fail(err, COLLET_UNAVAILABLE, "%s", reason);
    if (index >= count)
        return d->base.host->fail(err, COLLET_UNAVAILABLE,
                                  "OpenCL has %u device%s, counted from 0; there is no device %u",
                                  count, count == 1 ? "" : "s", index);
    d->id = ids[index];
    opencl_describe_compiler(&d->cl, d->id, d->cache);
    opencl_describe(d);
    return read_ways(d, ids[0], err);
}

static collet_status make_context(collet_device *d, collet_error *err)
{
    cl_int error = CL_SUCCESS;
    d->context = d->cl.CreateContext(NULL, 1, &d->id, NULL, NULL, &error);
    if (error == CL_SUCCESS)
        return COLLET_OK;
    d->context = NULL;
    opencl_fail(d, error, "a context", err);
    if (err)
        err->status = COLLET_UNAVAILABLE;
    return COLLET_UNAVAILABLE;
}

static collet_status device_open(collet_device *d, uint32_t index, collet_error *err)
{
    pthread_mutex_init(&d->launching, NULL); /* cannot fail on Linux */
    collet_status status = find_device(d, index, err);
    return status == COLLET_OK ? make_context(d, err) : status;
}

static void device_close(collet_device *d)
{
    if (d->launched)
        d->cl.ReleaseEvent(d->launched);
    pthread_mutex_destroy(&d->launching);
    if (d->context)
        d->cl.ReleaseContext(d->context);
    free(d->ways);
}

static const jit_device_slots devices = {
    .open = device_open,
    .close = device_close,
    .gone = opencl_gone,
};

/* ---- The plugin ------------------------------------------------------------------------------ */

static void explain(collet_device *d, const collet_kernel_call *call, char *words,
                    uint64_t capacity)
{
    text out = {.at = words, .capacity = capacity};
    words[0] = '\0';
    if (call->op == COLLET_OP_MATMUL)
        opencl_explain_matmul(d, call, &out);
}

static const collet_explain_extension explain_extension = {sizeof explain_extension, 0, explain};

static const jit_extension_table extensions[] = {
    {COLLET_EXTENSION_EXPLAIN, &explain_extension},
    {COLLET_EXTENSION_NATIVE, &opencl_native},
    {COLLET_EXTENSION_PINNED, &opencl_pinned},
    {COLLET_EXTENSION_TIMING, &opencl_timing},
    {NULL, NULL},
};

static const jit_driver driver = {
    .plugin = {PLUGIN_HEAD("opencl", kernels), JIT_SLOTS, .capabilities = opencl_capabilities},
    .prelude = jit_text_language_prelude_opencl,
    .extensions = extensions,
    .device_bytes = sizeof(collet_device),
    .queue_bytes = sizeof(collet_queue),
    .device = &devices,
    .memory = &opencl_memory,
    .programs = &opencl_programs,
    .queue = &opencl_queues,
    .copy = &opencl_copies,
    .launch = opencl_launch,
};

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &driver.plugin : NULL;
}
