/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - the kernels of cpu_scalar, one function an op. Private to the plugin.
 *
 * Each serves every signature of its op in ops.def and is a collet_kernel_row.run: it finds the
 * element types in the operands. docs/KERNELS.md says what is computed.
 */
#ifndef CPU_SCALAR_KERNELS_H
#define CPU_SCALAR_KERNELS_H

#include <collet/plugin.h>

#include "shared/host/util/plan_cache.h"

struct collet_device {
    const collet_host *host;
    plan_cache *plans;
};

/* The head of a kernel; not every kernel looks at the device, and none at a queue. */
#define KERNEL(name)                                                                               \
    collet_status scalar_##name(__attribute__((unused)) collet_device *device,                     \
                                __attribute__((unused)) collet_queue *queue,                       \
                                const collet_kernel_call *call)

/* Bytes of workspace that the kernel wants for a call. */
#define WORKSPACE(name)                                                                            \
    uint64_t scalar_##name##_workspace(__attribute__((unused)) collet_device *device,              \
                                       const collet_kernel_call *call)

/* array.c */
KERNEL(fill);
KERNEL(copy);
KERNEL(transpose);

/* array_elementwise.c */
KERNEL(add);
KERNEL(sub);
KERNEL(mul);
KERNEL(div);
KERNEL(neg);
KERNEL(abs);
KERNEL(conj);
KERNEL(exp);
KERNEL(log);
KERNEL(sqrt);
KERNEL(sin);
KERNEL(cos);
KERNEL(tanh);
KERNEL(axpy);

/* array_reduce.c */
KERNEL(sum);
KERNEL(mean);
KERNEL(min);
KERNEL(max);

/* linalg.c */
KERNEL(matmul);
KERNEL(dot);
KERNEL(matvec);

/* decompositions.c */
KERNEL(lu);
WORKSPACE(lu);
KERNEL(solve);
WORKSPACE(solve);
KERNEL(qr);
WORKSPACE(qr);
KERNEL(svd);
WORKSPACE(svd);
KERNEL(eigh);
WORKSPACE(eigh);
KERNEL(cholesky);
WORKSPACE(cholesky);

/* random.c */
KERNEL(uniform);
KERNEL(normal);
/* fft.c */
KERNEL(fft);
WORKSPACE(fft);
KERNEL(fftshift);

/* ternary.c */
KERNEL(ternary_quantize);
KERNEL(ternary_pack);
KERNEL(ternary_unpack);
KERNEL(ternary_dot);
KERNEL(ternary_matmul);
KERNEL(ternary_linear);
WORKSPACE(ternary_linear);

/* md_atoms.c: sums over the atoms of a frame */
KERNEL(com);
KERNEL(inertia);
KERNEL(cross_sum);
KERNEL(kinetic);
KERNEL(gyration);
KERNEL(rmsd);
KERNEL(observables);

/* md_frames.c: what is computed from such sums */
KERNEL(principal_axes);
KERNEL(euler_zyz);
KERNEL(tilt);
KERNEL(angular_velocity);
KERNEL(decompose);
KERNEL(magnitude);
KERNEL(time_derivative);

#endif
