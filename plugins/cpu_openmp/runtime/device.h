/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the device of cpu_openmp: all CPU threads that the host grants. Private to the plugin.
 *
 * A device is constant after it was opened, but for the plans, which have a lock of their own: any
 * number of threads may run kernels on it.
 */
#ifndef COLLET_OPENMP_DEVICE_H
#define COLLET_OPENMP_DEVICE_H

#include <collet/plugin.h>

#include "shared/host/util/plan_cache.h"
#include "cpu_openmp/providers/choice.h"
#include "isa.h"
#include "cpu_openmp/providers/onednn.h"
#include "shared/host/util/text.h"

struct collet_device {
    const collet_host *host;
    const isa_level *level;
    const narrow_kernels *narrow;    /* of the level, or what the processor has beyond it */
    const ternary_products *ternary; /* likewise */
    int32_t threads;                 /* at most, for one call */
    uint32_t onednn;                 /* ONEDNN_TYPE_*: products that are oneDNN's */
    onednn_plans *plans;             /* for some of them; NULL: there was no memory */
    plan_cache *ffts;                /* plans of Fourier transforms */
    int64_t cache_bytes;             /* of the largest cache: what is larger is streamed past it */
};

/* The head of a kernel; a queue means nothing to a synchronous plugin. */
#define KERNEL(name)                                                                               \
    collet_status openmp_##name(collet_device *device,                                             \
                                __attribute__((unused)) collet_queue *queue,                       \
                                const collet_kernel_call *call)

/* Bytes of workspace that the kernel wants for a call. */
#define WORKSPACE(name)                                                                            \
    uint64_t openmp_##name##_workspace(collet_device *device, const collet_kernel_call *call)

/* array.c */
KERNEL(add);
KERNEL(sub);
KERNEL(mul);
KERNEL(div);
KERNEL(exp);
KERNEL(log);
KERNEL(sqrt);
KERNEL(sin);
KERNEL(cos);
KERNEL(tanh);
KERNEL(neg);
KERNEL(abs);
KERNEL(conj);
KERNEL(axpy);

/* array_move.c */
KERNEL(fill);
KERNEL(copy);
WORKSPACE(copy);
KERNEL(transpose);
WORKSPACE(transpose);

/* array_reduce.c */
KERNEL(sum);
KERNEL(mean);
KERNEL(min);
KERNEL(max);
WORKSPACE(reduce); /* of all of these */

/* linalg.c */
KERNEL(matmul);
WORKSPACE(matmul);

/* linalg_vector.c */
KERNEL(dot);
WORKSPACE(dot);
KERNEL(matvec);
WORKSPACE(matvec);

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

/* fft.c */
KERNEL(fft);
WORKSPACE(fft);
KERNEL(fftshift);

/* ternary.c */
KERNEL(ternary_quantize);
WORKSPACE(ternary_quantize);
KERNEL(ternary_pack);
KERNEL(ternary_unpack);
KERNEL(ternary_dot);

/* ternary_product.c */
KERNEL(ternary_matmul);
WORKSPACE(ternary_matmul);
KERNEL(ternary_linear);
WORKSPACE(ternary_linear);

/* random.c */
KERNEL(uniform);
KERNEL(normal);

/* md_atoms.c: sums over the atoms of a frame */
KERNEL(com);
KERNEL(inertia);
KERNEL(cross_sum);
KERNEL(kinetic);
KERNEL(gyration);
KERNEL(observables);
WORKSPACE(atoms); /* of all of these */

/* md_rmsd.c */
KERNEL(rmsd);
WORKSPACE(rmsd);

/* md_frames.c: what is computed from such sums */
KERNEL(principal_axes);
KERNEL(euler_zyz);
KERNEL(tilt);
KERNEL(angular_velocity);
KERNEL(decompose);
KERNEL(magnitude);
KERNEL(time_derivative);

#endif
