/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompositions.h - cholesky, lu and solve on devices: rows for a backend's table of kernels. Run
 * and workspace functions as in plugin.h.
 */
#ifndef COLLET_JIT_LINALG_DECOMPOSITIONS_H
#define COLLET_JIT_LINALG_DECOMPOSITIONS_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

collet_status jit_cholesky(collet_device *device, collet_queue *queue,
                           const collet_kernel_call *call);
uint64_t jit_cholesky_workspace(collet_device *device, const collet_kernel_call *call);
collet_status jit_lu(collet_device *device, collet_queue *queue, const collet_kernel_call *call);
uint64_t jit_lu_workspace(collet_device *device, const collet_kernel_call *call);
collet_status jit_solve(collet_device *device, collet_queue *queue, const collet_kernel_call *call);
uint64_t jit_solve_workspace(collet_device *device, const collet_kernel_call *call);

/* Rows with a backend's own functions, jit_... or BY_... */
#define JIT_DECOMPOSITION_ROWS(by)                                                                 \
    JIT_ROW_BY(CHOLESKY, by##_cholesky, F, I32, F),                                                \
        JIT_ROW_BY(CHOLESKY, by##_cholesky, D, I32, D),                                            \
        JIT_ROW_BY(LU, by##_lu, I32, F, F, I32, F), JIT_ROW_BY(LU, by##_lu, I32, D, D, I32, D),    \
        JIT_ROW_BY(SOLVE, by##_solve, F, I32, F, F), JIT_ROW_BY(SOLVE, by##_solve, D, I32, D, D)

#endif
