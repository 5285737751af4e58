/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompositions.h - rows that this backend serves in the place of plugins/shared/jit's
 * decompositions and spectra: by cuSOLVER, where that is there and the matrices are large, or small
 * and many. As plugin.h has run and workspace.
 */
#ifndef COLLET_CUDA_DECOMPOSITIONS_H
#define COLLET_CUDA_DECOMPOSITIONS_H

#include <collet/plugin.h>

#define CUDA_DECOMPOSITION(name)                                                                   \
    collet_status cuda_##name(collet_device *device, collet_queue *queue,                          \
                              const collet_kernel_call *call);                                     \
    uint64_t cuda_##name##_workspace(collet_device *device, const collet_kernel_call *call)
CUDA_DECOMPOSITION(cholesky);
CUDA_DECOMPOSITION(lu);
CUDA_DECOMPOSITION(solve);
CUDA_DECOMPOSITION(qr);
CUDA_DECOMPOSITION(eigh);
CUDA_DECOMPOSITION(svd);
#undef CUDA_DECOMPOSITION

#endif
