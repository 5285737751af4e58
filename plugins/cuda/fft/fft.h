/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fft.h - the fft row that this backend serves in the place of plugins/shared/jit's: jit_fft by
 * cuFFT, where that is there and has words for the operands' layout. As plugin.h has run and
 * workspace.
 */
#ifndef COLLET_CUDA_FFT_H
#define COLLET_CUDA_FFT_H

#include <collet/plugin.h>

collet_status cuda_fft(collet_device *device, collet_queue *queue, const collet_kernel_call *call);
uint64_t cuda_fft_workspace(collet_device *device, const collet_kernel_call *call);

#endif
