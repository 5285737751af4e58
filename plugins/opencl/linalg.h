/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linalg.h - kernels of the linalg family that replace kernels of plugins/shared/jit: run functions
 * as in plugin.h.
 */
#ifndef PLUGINS_OPENCL_LINALG_H
#define PLUGINS_OPENCL_LINALG_H

#include <collet/plugin.h>

/* f32 and f64 products by CLBlast, if it is in use and supports the operands' layout, else
 * jit_matmul. */
collet_status opencl_matmul(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call);

#endif
