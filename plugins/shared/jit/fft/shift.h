/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shift.h - fftshift on devices: rows for a backend's table of kernels. The run function as in
 * plugin.h.
 */
#ifndef COLLET_JIT_FFT_SHIFT_H
#define COLLET_JIT_FFT_SHIFT_H

#include "shared/jit/array/array.h"

collet_status jit_fftshift(collet_device *device, collet_queue *queue,
                           const collet_kernel_call *call);

#define JIT_FFTSHIFT_ROWS JIT_MOVES(FFTSHIFT, fftshift)

#endif
