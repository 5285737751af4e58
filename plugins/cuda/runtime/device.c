/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing a GPU.
 * Tests: tests/cuda/test_cuda_device.c, tests/cuda/test_cuda_allocation.c,
 * tests/cuda/test_cuda_launch.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared/host/util/plan_cache.h"
#include "backend.h"

CUresult cuda_enter(collet_device *d)
{
    return d->cu.CtxPushCurrent(d->context);
}

void cuda_leave(collet_device *d)
{
    CUcontext own;
    d->cu.CtxPopCurrent(&own);
}

/* After these errors the context is unusable. */
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
        return d->base.host->fail(
            err, COLLET_UNAVAILABLE,
            "the NVIDIA driver has %d GPU%s, counted from 0; there is no GPU %u", count,
            count == 1 ? "" : "s", index);
    cuda_describe(d);
    d->base.staging = JIT_STAGING;
    int architecture = 0;
    status =
        cuda_compiler_target(d->base.host, &d->rtc, d->capability, d->target, &architecture, err);
    d->base.traits.has_tiles = architecture >= 80; /* the condition of prelude_cuda.dev */
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

static collet_status device_open(collet_device *d, uint32_t index, collet_error *err)
{
    const collet_host *host = d->base.host;
    d->wait_each = !strcmp(host->config(host, "cuda.sync"), "on");
    d->launches = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    d->blas.library.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    d->solver.library.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    d->fourier.library.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    collet_status status = find_device(d, index, err);
    if (status == COLLET_OK)
        status = cuda_ways_open(d, err);
    return status == COLLET_OK ? make_context(d, err) : status;
}

static void device_close(collet_device *d)
{
    plan_cache_destroy(d->fourier.plans);
    if (d->context) {
        if (cuda_enter(d) == CUDA_SUCCESS) {
            cuda_solver_close(&d->solver);
            cuda_leave(d);
        }
        d->cu.DevicePrimaryCtxRelease(d->id);
    }
    free(d->ways);
    pthread_mutex_destroy(&d->solver.library.lock);
    pthread_mutex_destroy(&d->fourier.library.lock);
    pthread_mutex_destroy(&d->blas.library.lock);
    pthread_rwlock_destroy(&d->launches);
}

static collet_status gone(collet_device *d, collet_error *err)
{
    char text[160];
    return d->base.host->fail(err, COLLET_DEVICE_LOST, "the device is lost: %s",
                              cuda_error_text(&d->cu, (CUresult)atomic_load(&d->base.lost), text));
}

static void trim(collet_device *d)
{
    if (d->fourier.plans)
        plan_cache_trim(d->fourier.plans);
}

const jit_device_slots cuda_devices = {
    .open = device_open,
    .close = device_close,
    .gone = gone,
    .trim = trim,
};
