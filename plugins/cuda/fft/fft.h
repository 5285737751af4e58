/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft.h - `run` and `accepts` (plugin.h) of the row fft: by cuFFT if it is installed and supports
 * the operands' layout, else jit_fft.
 */
#ifndef PLUGINS_CUDA_FFT_FFT_H
#define PLUGINS_CUDA_FFT_FFT_H

#include <collet/plugin.h>

collet_status cuda_fft(collet_device *device, collet_queue *queue, const collet_kernel_call *call);
collet_status cuda_fft_accepts(collet_device *device, const collet_kernel_call *call,
                               uint64_t *workspace_bytes);

#endif
