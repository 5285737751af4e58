/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "shared/jit/array/array.h"
#include "shared/jit/fft/shift.h"
#include "shared/jit/linalg/decompositions.h"
#include "shared/jit/fft/fft.h"
#include "shared/jit/linalg/linalg.h"
#include "shared/jit/md/md.h"
#include "shared/jit/linalg/spectra.h"
#include "shared/jit/random/random.h"
#include "shared/jit/ternary/ternary.h"
#include "cuda/runtime/backend.h"
#include "cuda/linalg/decompositions.h"
#include "cuda/fft/fft.h"
#include "cuda/linalg/matmul.h"
#include "shared/jit/texts.h"

COLLET_PLUGIN_MANIFEST("manifest.json");

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

/* One line a family: its rows as plugins/shared/jit has them, or this backend's own. */
static const collet_kernel_row kernels[] = {
    JIT_ARRAY_ROWS,
    JIT_MD_ROWS,
    JIT_RANDOM_ROWS,
    JIT_TERNARY_ROWS,
    JIT_FFTSHIFT_ROWS,
    JIT_LINALG_ROWS(cuda_matmul),
    JIT_DECOMPOSITION_ROWS(cuda),
    JIT_SPECTRA_ROWS(cuda),
    JIT_FFT_ROWS(cuda_fft),
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
        atomic_compare_exchange_strong(&d->base.lost, &none, (int)error);
        status = COLLET_DEVICE_LOST;
    } else if (is_shortage(error)) {
        status = COLLET_REFUSED;
    }
    return d->base.host->fail(err, status, "%s: %s", what, cuda_error_text(&d->cu, error, text));
}

collet_status jit_device_gone(collet_device *d, collet_error *err)
{
    char text[160];
    return d->base.host->fail(err, COLLET_DEVICE_LOST, "the device is lost: %s",
                              cuda_error_text(&d->cu, (CUresult)atomic_load(&d->base.lost), text));
}

/* ---- The device ------------------------------------------------------------------------------ */

static collet_status find_device(collet_device *d, uint32_t index, collet_error *err)
{
    int count = 0;
    collet_status status = cuda_driver_open(d->base.host, &d->cu, err);
    if (status == COLLET_OK)
        status = cuda_compiler_open(d->base.host, d->cu.version, &d->rtc, err);
    if (status != COLLET_OK)
        return status;
    if (d->cu.DeviceGetCount(&count) != CUDA_SUCCESS || count < 0 || index >= (uint32_t)count ||
        d->cu.DeviceGet(&d->id, (int)index) != CUDA_SUCCESS)
        return d->base.host->fail(err, COLLET_UNAVAILABLE,
                                  "the NVIDIA driver has %d GPU%s, counted from 0; there is no %u",
                                  count, count == 1 ? "" : "s", index);
    cuda_describe(d);
    d->base.staging = JIT_STAGING;
    int architecture = 0;
    status =
        cuda_compiler_target(d->base.host, &d->rtc, d->capability, d->target, &architecture, err);
    d->base.traits.has_tiles = architecture >= 80; /* as prelude_cuda.dev has it */
    char options[160];
    snprintf(options, sizeof options, "%s -std=c++17 -default-device --fmad=false", d->target);
    jit_options(d, options);
    snprintf(d->base.identity, sizeof d->base.identity, "cuda 1\ndriver %d\nnvrtc %d.%d",
             d->cu.version, d->rtc.major, d->rtc.minor);
    return status == COLLET_REFUSED ? COLLET_UNAVAILABLE : status;
}

static collet_status make_context(collet_device *d, collet_error *err)
{
    CUcontext context;
    char text[160];
    CUresult error = d->cu.DevicePrimaryCtxRetain(&context, d->id);
    if (error != CUDA_SUCCESS)
        return d->base.host->fail(err, COLLET_UNAVAILABLE, "the GPU's primary context: %s",
                                  cuda_error_text(&d->cu, error, text));
    d->context = context;
    return COLLET_OK;
}

collet_status jit_backend_open(collet_device *d, uint32_t index, collet_error *err)
{
    const collet_host *host = d->base.host;
    const char *sync = host->config(host, "cuda.sync");
    d->wait_each = sync && !strcmp(sync, "on");
    d->launches = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    d->blas.library.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    d->solver.library.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    d->fourier.library.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    collet_status status = find_device(d, index, err);
    return status == COLLET_OK ? make_context(d, err) : status;
}

void jit_backend_close(collet_device *d)
{
    cuda_fft_close(d);
    cuda_solver_close(d);
    if (d->context)
        d->cu.DevicePrimaryCtxRelease(d->id);
    pthread_mutex_destroy(&d->solver.library.lock);
    pthread_mutex_destroy(&d->fourier.library.lock);
    pthread_mutex_destroy(&d->blas.library.lock);
    pthread_rwlock_destroy(&d->launches);
}

static void trim(collet_device *d)
{
    jit_queues_visit(d, jit_queue_drain);
    cuda_fft_trim(d);
    jit_trim(d);
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
    .device_open = jit_device_open,
    .device_close = jit_device_close,
    .device_supports = jit_device_supports,
    .buffer_alloc = jit_buffer_alloc,
    .buffer_free = jit_buffer_free,
    .buffer_write = jit_buffer_write,
    .buffer_read = jit_buffer_read,
    .buffer_copy = cuda_buffer_copy,
    .buffer_fill = cuda_buffer_fill,
    .queue_create = jit_queue_create,
    .queue_destroy = jit_queue_destroy,
    .queue_wait = jit_queue_wait,
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
    .buffer_import = jit_pool_import,
    .native_handle = native_handle,
    .trim = trim,
    .buffer_copy_between = jit_copy_between,
};

const backend_facts this_backend = {
    .name = "cuda",
    .prelude = jit_text_runtime_prelude_cuda,
    .plugin = &plugin,
    .device_bytes = sizeof(collet_device),
    .queue_bytes = sizeof(collet_queue),
};
