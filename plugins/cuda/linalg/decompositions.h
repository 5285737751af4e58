/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decompositions.h - `run` and `workspace` (plugin.h) of the decompositions' rows: by cuSOLVER if
 * it is installed and the matrices are large, or small and many, else by plugins/shared/jit.
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
