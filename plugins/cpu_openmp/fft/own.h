/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft_own.h - the op fft by our own kernels. Any thread.
 */
#ifndef COLLET_OPENMP_FFT_OWN_H
#define COLLET_OPENMP_FFT_OWN_H

#include "cpu_openmp/runtime/device.h"

uint64_t fft_own_workspace(collet_device *device, const collet_kernel_call *call);
collet_status fft_own_run(collet_device *device, const collet_kernel_call *call);

#endif
