/* SPDX-License-Identifier: Apache-2.0 */
/* shift.h - fftshift as copies of blocks. Along each shifted axis of n elements, the first n - n / 2 elements
 * (inverse: n / 2) go to the end, and the other elements go to the front. */
#pragma once

#include <collet/plugin.h>

/* Runs `copy`, the kernel of that op, on each block. */
collet_status cpu_fft_shift(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call,
                            collet_status (*copy)(collet_device *device, collet_queue *queue,
                                                  const collet_kernel_call *call));
