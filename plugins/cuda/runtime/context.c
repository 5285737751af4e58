/* SPDX-License-Identifier: Apache-2.0 */
/* The device's context and the meaning of its errors.
 * Tests: tests/cuda/test_cuda_device.c, tests/cuda/test_cuda_launch.c */
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
