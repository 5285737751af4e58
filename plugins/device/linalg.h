/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linalg.h - the linalg family on devices: rows for a backend's table of kernels. Each run function
 * and each workspace is as plugin.h has it.
 */
#ifndef COLLET_DEVICE_LINALG_H
#define COLLET_DEVICE_LINALG_H

#include "device.h"
#include "rows.h"

collet_status device_matmul(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call);
collet_status device_dot(collet_device *device, collet_queue *queue,
                         const collet_kernel_call *call);
uint64_t device_dot_workspace(collet_device *device, const collet_kernel_call *call);
collet_status device_matvec(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call);
uint64_t device_matvec_workspace(collet_device *device, const collet_kernel_call *call);

#define DEVICE_LINALG_ROWS                                                                         \
    DEVICE_ROW(MATMUL, matmul, F, F, F), DEVICE_ROW(MATMUL, matmul, D, D, D),                      \
        DEVICE_ROW(MATMUL, matmul, H, H, H), DEVICE_ROW(MATMUL, matmul, F, H, H),                  \
        DEVICE_ROW(MATMUL, matmul, B, B, B), DEVICE_ROW(MATMUL, matmul, F, B, B),                  \
        DEVICE_ROW(MATMUL, matmul, I32, I8, I8), DEVICE_ROW_WORKSPACE(DOT, dot, F, F, F),          \
        DEVICE_ROW_WORKSPACE(DOT, dot, D, D, D), DEVICE_ROW_WORKSPACE(DOT, dot, D, F, F),          \
        DEVICE_ROW_WORKSPACE(MATVEC, matvec, F, F, F),                                             \
        DEVICE_ROW_WORKSPACE(MATVEC, matvec, D, D, D)

#endif
