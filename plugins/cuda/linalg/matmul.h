/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matmul.h - `run` (plugin.h) of the row matmul: by cuBLAS if it is installed and supports the
 * operands' layout, else jit_matmul.
 */
#ifndef PLUGINS_CUDA_LINALG_MATMUL_H
#define PLUGINS_CUDA_LINALG_MATMUL_H

#include <collet/plugin.h>

collet_status cuda_matmul(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call);

#endif
