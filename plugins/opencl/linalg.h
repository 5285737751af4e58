/* SPDX-License-Identifier: Apache-2.0 */
/*
 * linalg.h - rows of the linalg family that this backend serves in the place of
 * plugins/shared/jit's: as plugin.h has run functions.
 */
#ifndef COLLET_OPENCL_LINALG_H
#define COLLET_OPENCL_LINALG_H

#include <collet/plugin.h>

/* jit_matmul by CLBlast, of f32 and f64, where that is used and takes the operands' layout. */
collet_status opencl_matmul(collet_device *device, collet_queue *queue,
                            const collet_kernel_call *call);

#endif
