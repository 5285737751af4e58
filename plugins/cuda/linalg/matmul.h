/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linalg.h - rows of the linalg family that this backend serves in the place of
 * plugins/shared/jit's: as plugin.h has run functions.
 */
#ifndef COLLET_CUDA_LINALG_H
#define COLLET_CUDA_LINALG_H

#include <collet/plugin.h>

/* jit_matmul by cuBLAS, where that is there and takes the operands' layout. */
collet_status cuda_matmul(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call);

#endif
