/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl.h"
#include "linalg.h"

#include <collet/extensions.h>

#include "shared/jit/array/array.h"
#include "shared/jit/fft/fft.h"
#include "shared/jit/linalg/linalg.h"
#include "shared/jit/md/md.h"
#include "shared/jit/random/random.h"
#include "shared/jit/scatter/scatter.h"
#include "shared/jit/ternary/ternary.h"
#include "shared/jit/texts.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* One line per family: the rows of plugins/shared/jit, some with this backend's functions. */
static const collet_kernel_row kernels[] = {
    JIT_ARRAY_ROWS,
    JIT_MD_ROWS,
    JIT_RANDOM_ROWS,
    JIT_SCATTER_ROWS,
    JIT_TERNARY_ROWS,
    JIT_LINALG_ROWS(opencl_matmul),
    JIT_DECOMPOSITION_ROWS(JIT_OWN),
    JIT_FFT_ROWS(jit_fft),
};

/* ---- The device ------------------------------------------------------------------------------ */

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
    opencl_describe(d);
    return COLLET_OK;
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

collet_status jit_backend_open(collet_device *d, uint32_t index, collet_error *err)
{
    pthread_mutex_init(&d->launching, NULL); /* cannot fail on Linux */
    collet_status status = find_device(d, index, err);
    return status == COLLET_OK ? make_context(d, err) : status;
}

void jit_backend_close(collet_device *d)
{
    if (d->launched)
        d->cl.ReleaseEvent(d->launched);
    pthread_mutex_destroy(&d->launching);
    if (d->context)
        d->cl.ReleaseContext(d->context);
}

/* ---- The plugin ------------------------------------------------------------------------------ */

static const collet_plugin plugin = {
    JIT_SLOTS,          .kernel_count = COUNT(kernels),      .name = "opencl", .version = "0.1.0",
    .kernels = kernels, .capabilities = opencl_capabilities,
};

static const collet_copy_extension copy = {sizeof copy, 0, jit_copy_between};
static const collet_memory_extension memory = {sizeof memory, 0, jit_memory_stats,
                                               jit_memory_reset_peak};
static const collet_trim_extension trim = {sizeof trim, 0, jit_trim};

static const jit_extension_table extensions[] = {
    {COLLET_EXTENSION_COPY, &copy},
    {COLLET_EXTENSION_MEMORY, &memory},
    {COLLET_EXTENSION_NATIVE, &opencl_native},
    {COLLET_EXTENSION_PINNED, &opencl_pinned},
    {COLLET_EXTENSION_TIMING, &opencl_timing},
    {COLLET_EXTENSION_TRIM, &trim},
    {NULL, NULL},
};

const backend_facts this_backend = {
    .name = "opencl",
    .prelude = jit_text_language_prelude_opencl,
    .plugin = &plugin,
    .extensions = extensions,
    .device_bytes = sizeof(collet_device),
    .queue_bytes = sizeof(collet_queue),
};
