/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md.h - the md family on devices: rows for a backend's table of kernels. Each function is as
 * plugin.h has it. All outputs are f64: a device without f64 has none of these rows.
 */
#ifndef COLLET_JIT_MD_MD_H
#define COLLET_JIT_MD_MD_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

/* com, inertia, cross_sum, kinetic, gyration, observables */
collet_status device_md_atoms(collet_device *device, collet_queue *queue,
                              const collet_kernel_call *call);
uint64_t device_md_atoms_workspace(collet_device *device, const collet_kernel_call *call);

/* euler_zyz, tilt, angular_velocity, decompose */
collet_status device_md_frames(collet_device *device, collet_queue *queue,
                               const collet_kernel_call *call);

collet_status device_md_principal_axes(collet_device *device, collet_queue *queue,
                                       const collet_kernel_call *call);
uint64_t device_md_principal_axes_workspace(collet_device *device, const collet_kernel_call *call);

collet_status device_md_magnitude(collet_device *device, collet_queue *queue,
                                  const collet_kernel_call *call);

collet_status device_md_time_derivative(collet_device *device, collet_queue *queue,
                                        const collet_kernel_call *call);
uint64_t device_md_time_derivative_workspace(collet_device *device, const collet_kernel_call *call);

collet_status device_md_rmsd(collet_device *device, collet_queue *queue,
                             const collet_kernel_call *call);
uint64_t device_md_rmsd_workspace(collet_device *device, const collet_kernel_call *call);

#define DEVICE_MD_ROWS                                                                             \
    DEVICE_ROW_WORKSPACE(COM, md_atoms, D, F, F), DEVICE_ROW_WORKSPACE(COM, md_atoms, D, F, D),    \
        DEVICE_ROW_WORKSPACE(COM, md_atoms, D, D, D),                                              \
        DEVICE_ROW_WORKSPACE(INERTIA, md_atoms, D, F, F, D),                                       \
        DEVICE_ROW_WORKSPACE(INERTIA, md_atoms, D, F, D, D),                                       \
        DEVICE_ROW_WORKSPACE(INERTIA, md_atoms, D, D, D, D),                                       \
        DEVICE_ROW_WORKSPACE(CROSS_SUM, md_atoms, D, F, F, D, F),                                  \
        DEVICE_ROW_WORKSPACE(CROSS_SUM, md_atoms, D, F, D, D, F),                                  \
        DEVICE_ROW_WORKSPACE(CROSS_SUM, md_atoms, D, D, D, D, D),                                  \
        DEVICE_ROW_WORKSPACE(PRINCIPAL_AXES, md_principal_axes, D, D, D, D),                       \
        DEVICE_ROW(EULER_ZYZ, md_frames, D, D), DEVICE_ROW(TILT, md_frames, D, D, D),              \
        DEVICE_ROW(ANGULAR_VELOCITY, md_frames, D, I32, D, D),                                     \
        DEVICE_ROW(DECOMPOSE, md_frames, D, D, D, D), DEVICE_ROW(MAGNITUDE, md_magnitude, D, F),   \
        DEVICE_ROW(MAGNITUDE, md_magnitude, D, D),                                                 \
        DEVICE_ROW_WORKSPACE(TIME_DERIVATIVE, md_time_derivative, D, I32, F, D),                   \
        DEVICE_ROW_WORKSPACE(TIME_DERIVATIVE, md_time_derivative, D, I32, D, D),                   \
        DEVICE_ROW_WORKSPACE(KINETIC, md_atoms, D, F, F, F),                                       \
        DEVICE_ROW_WORKSPACE(KINETIC, md_atoms, D, F, D, F),                                       \
        DEVICE_ROW_WORKSPACE(KINETIC, md_atoms, D, D, D, D),                                       \
        DEVICE_ROW_WORKSPACE(GYRATION, md_atoms, D, D, D, F, F),                                   \
        DEVICE_ROW_WORKSPACE(GYRATION, md_atoms, D, D, D, F, D),                                   \
        DEVICE_ROW_WORKSPACE(GYRATION, md_atoms, D, D, D, D, D),                                   \
        DEVICE_ROW_WORKSPACE(RMSD, md_rmsd, D, D, F, F, F),                                        \
        DEVICE_ROW_WORKSPACE(RMSD, md_rmsd, D, D, F, D, F),                                        \
        DEVICE_ROW_WORKSPACE(RMSD, md_rmsd, D, D, F, D, D),                                        \
        DEVICE_ROW_WORKSPACE(RMSD, md_rmsd, D, D, D, D, D),                                        \
        DEVICE_ROW_WORKSPACE(OBSERVABLES, md_atoms, D, D, D, D, D, F, F, F, F),                    \
        DEVICE_ROW_WORKSPACE(OBSERVABLES, md_atoms, D, D, D, D, D, F, D, F, F),                    \
        DEVICE_ROW_WORKSPACE(OBSERVABLES, md_atoms, D, D, D, D, D, D, D, D, D)

#endif
