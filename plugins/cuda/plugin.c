/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../device/array.h"
#include "../device/fft_shift.h"
#include "../device/decompositions.h"
#include "../device/fft.h"
#include "../device/linalg.h"
#include "../device/md.h"
#include "../device/spectra.h"
#include "../device/random.h"
#include "../device/tables.h"
#include "backend.h"
#include "linalg.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* One line a family: its rows as plugins/device has them, or this backend's own. */
static const collet_kernel_row kernels[] = {
    DEVICE_ARRAY_ROWS,
    DEVICE_MD_ROWS,
    DEVICE_RANDOM_ROWS,
    DEVICE_FFTSHIFT_ROWS,
    DEVICE_LINALG_ROWS(cuda_matmul),
    DEVICE_DECOMPOSITION_ROWS,
    DEVICE_SPECTRA_ROWS,
    DEVICE_FFT_ROWS,
};

/* ---- The current context --------------------------------------------------------------------- */

CUresult cuda_enter(collet_device *d)
{
    return d->cu.CtxPushCurrent(d->context);
}

void cuda_leave(collet_device *d)
{
    CUcontext own;
    d->cu.CtxPopCurrent(&own);
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* After these nothing in the context works any more. */
static int is_fatal(CUresult error)
{
    switch ((int)error) {
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_UNKNOWN:
        return 1;
    default:
        return 0;
    }
}

static int is_shortage(CUresult error)
{
    return error == CUDA_ERROR_OUT_OF_MEMORY || error == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

collet_status cuda_fail(collet_device *d, CUresult error, const char *what, collet_error *err)
{
    char text[160];
    collet_status status = COLLET_FAILED;
    if (is_fatal(error)) {
        int none = 0;
        atomic_compare_exchange_strong(&d->lost, &none, (int)error);
        status = COLLET_DEVICE_LOST;
    } else if (is_shortage(error)) {
        status = COLLET_REFUSED;
    }
    return d->host->fail(err, status, "%s: %s", what, cuda_error_text(&d->cu, error, text));
}

collet_status cuda_gone(collet_device *d, collet_error *err)
{
    char text[160];
    return d->host->fail(err, COLLET_DEVICE_LOST, "the device is lost: %s",
                         cuda_error_text(&d->cu, (CUresult)atomic_load(&d->lost), text));
}

/* ---- The device ------------------------------------------------------------------------------ */

/* The bytes that the setting cuda.memory allows, else what the device has. */
static uint64_t memory_limit(const collet_device *d)
{
    const char *set = d->host->config(d->host, "cuda.memory");
    unsigned long long bytes = set ? strtoull(set, NULL, 10) : 0;
    if (bytes)
        return bytes;
    return d->total_memory ? d->total_memory : UINT64_MAX;
}

static collet_status find_device(collet_device *d, uint32_t index, collet_error *err)
{
    int count = 0;
    collet_status status = cuda_driver_open(d->host, &d->cu, err);
    if (status == COLLET_OK)
        status = cuda_compiler_open(d->host, d->cu.version, &d->rtc, err);
    if (status != COLLET_OK)
        return status;
    if (d->cu.DeviceGetCount(&count) != CUDA_SUCCESS || count < 0 || index >= (uint32_t)count ||
        d->cu.DeviceGet(&d->id, (int)index) != CUDA_SUCCESS)
        return d->host->fail(err, COLLET_UNAVAILABLE,
                             "the NVIDIA driver has %d GPU%s, counted from 0; there is no %u",
                             count, count == 1 ? "" : "s", index);
    cuda_describe(d);
    status = cuda_compiler_target(d->host, &d->rtc, d->capability, d->target, err);
    snprintf(d->identity, sizeof d->identity, "cuda 1\ndriver %d\nnvrtc %d.%d", d->cu.version,
             d->rtc.major, d->rtc.minor);
    return status == COLLET_REFUSED ? COLLET_UNAVAILABLE : status;
}

static collet_status make_context(collet_device *d, collet_error *err)
{
    CUcontext context;
    char text[160];
    CUresult error = d->cu.DevicePrimaryCtxRetain(&context, d->id);
    if (error != CUDA_SUCCESS)
        return d->host->fail(err, COLLET_UNAVAILABLE, "the GPU's primary context: %s",
                             cuda_error_text(&d->cu, error, text));
    d->context = context;
    return COLLET_OK;
}

static void device_close(collet_device *d)
{
    if (!d)
        return;
    if (d->context) {
        /* Tables are pooled buffers, and these name tickets of queues. */
        plan_cache_destroy(d->tables);
        device_pool_trim(&d->pool, d);
        cuda_programs_destroy(d);
        cuda_queues_free(d);
        d->cu.DevicePrimaryCtxRelease(d->id);
    }
    device_pool_destroy(&d->pool, d);
    pthread_mutex_destroy(&d->blas.lock);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static collet_status device_open(const collet_host *host, uint32_t index, collet_device **device,
                                 collet_error *err)
{
    collet_device *d = calloc(1, sizeof *d);
    const char *sync = host->config(host, "cuda.sync");
    if (!d)
        return host->fail(err, COLLET_NO_MEMORY, "cuda: no memory to open the device");
    d->host = host;
    d->wait_each = sync && !strcmp(sync, "on");
    if (pthread_mutex_init(&d->lock, NULL) || pthread_mutex_init(&d->blas.lock, NULL) ||
        device_pool_init(&d->pool, UINT64_MAX)) {
        free(d);
        return host->fail(err, COLLET_NO_MEMORY, "cuda: no lock for the device");
    }
    collet_status status = find_device(d, index, err);
    if (status == COLLET_OK)
        status = make_context(d, err);
    if (status == COLLET_OK)
        status = cuda_programs_create(d, err);
    if (status == COLLET_OK && !(d->tables = device_tables_create()))
        status = host->fail(err, COLLET_NO_MEMORY, "cuda: no memory to keep tables");
    if (status != COLLET_OK) {
        device_close(d);
        if (err)
            err->status = status;
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
    cuda_queues_trim(d);
    cuda_programs_trim(d);
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
    .name = "cuda",
    .version = "0.1.0",
    .kernels = kernels,
    .capabilities = cuda_capabilities,
    .device_open = device_open,
    .device_close = device_close,
    .device_supports = device_supports,
    .buffer_alloc = cuda_buffer_alloc,
    .buffer_free = cuda_buffer_free,
    .buffer_write = cuda_buffer_write,
    .buffer_read = cuda_buffer_read,
    .buffer_copy = cuda_buffer_copy,
    .buffer_fill = cuda_buffer_fill,
    .queue_create = cuda_queue_create,
    .queue_destroy = cuda_queue_destroy,
    .queue_wait = cuda_queue_wait,
    .event_create = cuda_event_create,
    .event_destroy = cuda_event_destroy,
    .event_record = cuda_event_record,
    .event_query = cuda_event_query,
    .event_wait = cuda_event_wait,
    .queue_wait_event = cuda_queue_wait_event,
    .event_elapsed = cuda_event_elapsed,
    .memory_stats = cuda_memory_stats,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .buffer_import = cuda_buffer_import,
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
