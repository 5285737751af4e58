/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompositions.h - cholesky, lu and solve on devices: rows for a backend's table
 * of kernels. Each run function and each workspace is as plugin.h has it.
 */
#ifndef COLLET_DEVICE_DECOMPOSITIONS_H
#define COLLET_DEVICE_DECOMPOSITIONS_H

#include "device.h"
#include "rows.h"

collet_status device_cholesky(collet_device *device, collet_queue *queue,
                              const collet_kernel_call *call);
uint64_t device_cholesky_workspace(collet_device *device, const collet_kernel_call *call);
collet_status device_lu(collet_device *device, collet_queue *queue, const collet_kernel_call *call);
uint64_t device_lu_workspace(collet_device *device, const collet_kernel_call *call);
collet_status device_solve(collet_device *device, collet_queue *queue,
                           const collet_kernel_call *call);
uint64_t device_solve_workspace(collet_device *device, const collet_kernel_call *call);

#define DEVICE_DECOMPOSITION_ROWS                                                                  \
    DEVICE_ROW_WORKSPACE(CHOLESKY, cholesky, F, I32, F),                                           \
        DEVICE_ROW_WORKSPACE(CHOLESKY, cholesky, D, I32, D),                                       \
        DEVICE_ROW_WORKSPACE(LU, lu, I32, F, F, I32, F),                                           \
        DEVICE_ROW_WORKSPACE(LU, lu, I32, D, D, I32, D),                                           \
        DEVICE_ROW_WORKSPACE(SOLVE, solve, F, I32, F, F),                                          \
        DEVICE_ROW_WORKSPACE(SOLVE, solve, D, I32, D, D)

#endif
