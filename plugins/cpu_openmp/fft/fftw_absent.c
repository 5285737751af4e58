/* SPDX-License-Identifier: Apache-2.0 */
/* In place of fftw.c in a build without COLLET_FFTW. */
#include "fftw.h"

int fftw_usable(const char **reason)
{
    *reason = "this build is without FFTW (COLLET_FFTW=ON builds with it)";
    return 0;
}

int fftw_takes(const collet_kernel_call *call)
{
    (void)call;
    return 0;
}

uint64_t fftw_workspace(collet_device *device, const collet_kernel_call *call)
{
    (void)device;
    (void)call;
    return 0;
}

collet_status fftw_run(collet_device *device, const collet_kernel_call *call)
{
    return device->host->fail(call->err, COLLET_REFUSED, "this build is without FFTW");
}
