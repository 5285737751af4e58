/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spectra.h - qr, eigh and svd on devices: rows for a backend's table of kernels. Run and workspace
 * functions as in plugin.h.
 */
#ifndef COLLET_JIT_LINALG_SPECTRA_H
#define COLLET_JIT_LINALG_SPECTRA_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

collet_status jit_qr(collet_device *device, collet_queue *queue, const collet_kernel_call *call);
uint64_t jit_qr_workspace(collet_device *device, const collet_kernel_call *call);
collet_status jit_eigh(collet_device *device, collet_queue *queue, const collet_kernel_call *call);
uint64_t jit_eigh_workspace(collet_device *device, const collet_kernel_call *call);
collet_status jit_svd(collet_device *device, collet_queue *queue, const collet_kernel_call *call);
uint64_t jit_svd_workspace(collet_device *device, const collet_kernel_call *call);

/* Rows with a backend's own functions, jit_... or BY_... */
#define JIT_SPECTRA_ROWS(by)                                                                       \
    JIT_ROW_BY(QR, by##_qr, F, F, F), JIT_ROW_BY(QR, by##_qr, D, D, D),                            \
        JIT_ROW_BY(EIGH, by##_eigh, F, F, I32, F), JIT_ROW_BY(EIGH, by##_eigh, D, D, I32, D),      \
        JIT_ROW_BY(SVD, by##_svd, F, F, F, I32, F), JIT_ROW_BY(SVD, by##_svd, D, D, D, I32, D)

#endif
