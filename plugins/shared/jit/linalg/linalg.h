/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linalg.h - the linalg family on devices: rows for a backend's table of kernels. Run and workspace
 * functions as in plugin.h.
 */
#ifndef COLLET_JIT_LINALG_LINALG_H
#define COLLET_JIT_LINALG_LINALG_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

collet_status jit_matmul(collet_device *device, collet_queue *queue,
                         const collet_kernel_call *call);
collet_status jit_dot(collet_device *device, collet_queue *queue, const collet_kernel_call *call);
uint64_t jit_dot_workspace(collet_device *device, const collet_kernel_call *call);
collet_status jit_matvec(collet_device *device, collet_queue *queue,
                         const collet_kernel_call *call);
uint64_t jit_matvec_workspace(collet_device *device, const collet_kernel_call *call);

/* A matmul row with a backend's function `matmul`, jit_matmul or another. */
#define JIT_MATMUL_ROW(run, ...)                                                                   \
    {                                                                                              \
        COLLET_OP_MATMUL, 0, JIT_SIG(__VA_ARGS__), run, NULL                                       \
    }
#define JIT_MATMUL_ROWS(run)                                                                       \
    JIT_MATMUL_ROW(run, F, F, F), JIT_MATMUL_ROW(run, D, D, D), JIT_MATMUL_ROW(run, H, H, H),      \
        JIT_MATMUL_ROW(run, F, H, H), JIT_MATMUL_ROW(run, B, B, B), JIT_MATMUL_ROW(run, F, B, B),  \
        JIT_MATMUL_ROW(run, I32, I8, I8)

#define JIT_LINALG_ROWS(matmul)                                                                    \
    JIT_MATMUL_ROWS(matmul), JIT_ROW_WORKSPACE(DOT, dot, F, F, F),                                 \
        JIT_ROW_WORKSPACE(DOT, dot, D, D, D), JIT_ROW_WORKSPACE(DOT, dot, D, F, F),                \
        JIT_ROW_WORKSPACE(MATVEC, matvec, F, F, F), JIT_ROW_WORKSPACE(MATVEC, matvec, D, D, D)

#endif
