/* SPDX-License-Identifier: Apache-2.0 */
#include "device.h"

#include "../cpu/fft_shift.h"
#include "fft_own.h"

WORKSPACE(fft)
{
    return fft_own_workspace(device, call);
}

KERNEL(fft)
{
    return fft_own_run(device, call);
}

KERNEL(fftshift)
{
    return cpu_fft_shift(device, queue, call, openmp_copy);
}
