/* SPDX-License-Identifier: Apache-2.0 */
/* fft.h - the fft family on devices: rows for a backend's table of kernels. */
#ifndef COLLET_JIT_FFT_FFT_H
#define COLLET_JIT_FFT_FFT_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

collet_status device_fft(collet_device *device, collet_queue *queue,
                         const collet_kernel_call *call);
uint64_t device_fft_workspace(collet_device *device, const collet_kernel_call *call);

/* For a backend's own function, device_fft or another. */
#define DEVICE_FFT_ROWS(fft)                                                                       \
    DEVICE_ROW_BY(FFT, fft, C, C), DEVICE_ROW_BY(FFT, fft, Z, Z), DEVICE_ROW_BY(FFT, fft, C, F),   \
        DEVICE_ROW_BY(FFT, fft, Z, D), DEVICE_ROW_BY(FFT, fft, F, C),                              \
        DEVICE_ROW_BY(FFT, fft, D, Z)

#endif
