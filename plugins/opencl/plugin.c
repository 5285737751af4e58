/* SPDX-License-Identifier: Apache-2.0 */
#include "opencl.h"

#include <stdlib.h>

#include "../device/array.h"
#include "../device/fft_shift.h"
#include "../device/decompositions.h"
#include "../device/fft.h"
#include "../device/linalg.h"
#include "../device/md.h"
#include "../device/spectra.h"
#include "../device/random.h"
#include "../device/tables.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* One line a family: its rows as plugins/device has them, or this backend's own. */
static const collet_kernel_row kernels[] = {
    DEVICE_ARRAY_ROWS,
    DEVICE_MD_ROWS,
    DEVICE_RANDOM_ROWS,
    DEVICE_FFTSHIFT_ROWS,
    DEVICE_LINALG_ROWS(device_matmul),
    DEVICE_DECOMPOSITION_ROWS,
    DEVICE_SPECTRA_ROWS,
    DEVICE_FFT_ROWS,
};

/* ---- The device ------------------------------------------------------------------------------ */

/* The bytes that the setting opencl.memory allows, else what the device has. */
static uint64_t memory_limit(const collet_device *d)
{
    const char *set = d->host->config(d->host, "opencl.memory");
    unsigned long long bytes = set ? strtoull(set, NULL, 10) : 0;
    if (bytes)
        return bytes;
    return d->total_memory ? d->total_memory : UINT64_MAX;
}

static collet_status find_device(collet_device *d, uint32_t index, collet_error *err)
{
    cl_device_id ids[OPENCL_DEVICES];
    char reason[256] = "";
    collet_status status = opencl_driver_open(d->host, &d->cl, err);
    if (status != COLLET_OK)
        return status;
    uint32_t count = opencl_find_devices(&d->cl, ids, reason);
    if (!count)
        return d->host->fail(err, COLLET_UNAVAILABLE, "%s", reason);
    if (index >= count)
        return d->host->fail(err, COLLET_UNAVAILABLE,
                             "OpenCL has %u device%s, counted from 0; there is no %u", count,
                             count == 1 ? "" : "s", index);
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

static void device_close(collet_device *d)
{
    if (!d)
        return;
    /* Tables are pooled buffers, and these name tickets of queues. */
    plan_cache_destroy(d->tables);
    device_pool_destroy(&d->pool, d);
    opencl_queues_free(d);
    opencl_programs_destroy(d);
    if (d->context)
        d->cl.ReleaseContext(d->context);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static collet_status device_open(const collet_host *host, uint32_t index, collet_device **device,
                                 collet_error *err)
{
    collet_device *d = calloc(1, sizeof *d);
    if (!d)
        return host->fail(err, COLLET_NO_MEMORY, "opencl: no memory to open the device");
    d->host = host;
    if (pthread_mutex_init(&d->lock, NULL) || device_pool_init(&d->pool, UINT64_MAX)) {
        free(d);
        return host->fail(err, COLLET_NO_MEMORY, "opencl: no lock for the device");
    }
    collet_status status = find_device(d, index, err);
    if (status == COLLET_OK)
        status = make_context(d, err);
    if (status == COLLET_OK)
        status = opencl_programs_create(d, err);
    if (status == COLLET_OK && !(d->tables = device_tables_create()))
        status = host->fail(err, COLLET_NO_MEMORY, "opencl: no memory to keep tables");
    if (status != COLLET_OK) {
        device_close(d);
        return status;
    }
    d->pool.limit = memory_limit(d);
    *device = d;
    return COLLET_OK;
}

static int32_t device_supports(collet_device *d, uint32_t row)
{
    return row < COUNT(kernels) && device_row_runs(&d->traits, kernels[row].op, kernels[row].sig);
}

static void trim(collet_device *d)
{
    pthread_mutex_lock(&d->lock);
    for (collet_queue *q = d->queues; q; q = q->next) {
        pthread_mutex_lock(&q->lock);
        opencl_kernels_clear(&d->cl, q->kernels);
        pthread_mutex_unlock(&q->lock);
    }
    pthread_mutex_unlock(&d->lock);
    opencl_programs_trim(d);
    plan_cache_trim(d->tables);
    device_pool_trim(&d->pool, d);
}

static collet_status native_handle(collet_device *d, collet_queue *q, collet_buffer *b,
                                   void **handle, collet_error *err)
{
    (void)err;
    *handle = b ? b->memory : q ? (void *)q->handle : (void *)d->context;
    return COLLET_OK;
}

/* ---- The plugin ------------------------------------------------------------------------------ */

static const collet_plugin plugin = {
    .abi = COLLET_ABI,
    .struct_size = sizeof(collet_plugin),
    .kernel_count = COUNT(kernels),
    .kernel_size = sizeof(collet_kernel_row),
    .name = "opencl",
    .version = "0.1.0",
    .kernels = kernels,
    .capabilities = opencl_capabilities,
    .device_open = device_open,
    .device_close = device_close,
    .device_supports = device_supports,
    .buffer_alloc = opencl_buffer_alloc,
    .buffer_free = opencl_buffer_free,
    .buffer_write = opencl_buffer_write,
    .buffer_read = opencl_buffer_read,
    .buffer_copy = opencl_buffer_copy,
    .buffer_fill = opencl_buffer_fill,
    .queue_create = opencl_queue_create,
    .queue_destroy = opencl_queue_destroy,
    .queue_wait = opencl_queue_wait,
    .event_create = opencl_event_create,
    .event_destroy = opencl_event_destroy,
    .event_record = opencl_event_record,
    .event_query = opencl_event_query,
    .event_wait = opencl_event_wait,
    .queue_wait_event = opencl_queue_wait_event,
    .event_elapsed = opencl_event_elapsed,
    .memory_stats = opencl_memory_stats,
    .buffer_import = opencl_buffer_import,
    .native_handle = native_handle,
    .trim = trim,
};

const collet_plugin *device_verbs(void)
{
    return &plugin;
}

const collet_plugin *collet_plugin_entry(const collet_host *host)
{
    return host->abi >> 16 == COLLET_ABI_MAJOR ? &plugin : NULL;
}
