/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linalg.h - the linalg family on devices: rows for a backend's table of kernels. Each run function
 * and each workspace is as plugin.h has it.
 */
#ifndef COLLET_JIT_LINALG_LINALG_H
#define COLLET_JIT_LINALG_LINALG_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

collet_status device_matmul(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call);
collet_status device_dot(collet_device *device, collet_queue *queue,
                         const collet_kernel_call *call);
uint64_t device_dot_workspace(collet_device *device, const collet_kernel_call *call);
collet_status device_matvec(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call);
uint64_t device_matvec_workspace(collet_device *device, const collet_kernel_call *call);

/* Of matmul, for a backend's own function `matmul`, device_matmul or another. */
#define DEVICE_MATMUL_ROW(run, ...)                                                                \
    {                                                                                              \
        COLLET_OP_MATMUL, 0, DEVICE_SIG(__VA_ARGS__), run, NULL                                    \
    }
#define DEVICE_MATMUL_ROWS(run)                                                                    \
    DEVICE_MATMUL_ROW(run, F, F, F), DEVICE_MATMUL_ROW(run, D, D, D),                              \
        DEVICE_MATMUL_ROW(run, H, H, H), DEVICE_MATMUL_ROW(run, F, H, H),                          \
        DEVICE_MATMUL_ROW(run, B, B, B), DEVICE_MATMUL_ROW(run, F, B, B),                          \
        DEVICE_MATMUL_ROW(run, I32, I8, I8)

#define DEVICE_LINALG_ROWS(matmul)                                                                 \
    DEVICE_MATMUL_ROWS(matmul), DEVICE_ROW_WORKSPACE(DOT, dot, F, F, F),                           \
        DEVICE_ROW_WORKSPACE(DOT, dot, D, D, D), DEVICE_ROW_WORKSPACE(DOT, dot, D, F, F),          \
        DEVICE_ROW_WORKSPACE(MATVEC, matvec, F, F, F),                                             \
        DEVICE_ROW_WORKSPACE(MATVEC, matvec, D, D, D)

#endif
