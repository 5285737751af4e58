/* SPDX-License-Identifier: Apache-2.0 */
/*
 * md.h - the md family on devices: rows for a backend's table of kernels. Functions as in plugin.h.
 * All outputs are f64: a device without f64 has none of these rows.
 */
#ifndef PLUGINS_SHARED_JIT_MD_MD_H
#define PLUGINS_SHARED_JIT_MD_MD_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_md_atoms;  /* com, inertia, cross_sum, kinetic, gyration, observables */
jit_run jit_md_frames; /* euler_zyz, tilt, angular_velocity, decompose */
jit_run jit_md_principal_axes, jit_md_magnitude, jit_md_time_derivative, jit_md_rmsd;
jit_accepts jit_md_atoms_accepts, jit_md_principal_axes_accepts;
jit_accepts jit_md_time_derivative_accepts, jit_md_rmsd_accepts;

#define JIT_MD_ROWS                                                                                \
    JIT_ROW_ACCEPTS(COM, md_atoms, D, F, F), JIT_ROW_ACCEPTS(COM, md_atoms, D, F, D),              \
        JIT_ROW_ACCEPTS(COM, md_atoms, D, D, D), JIT_ROW_ACCEPTS(INERTIA, md_atoms, D, F, F, D),   \
        JIT_ROW_ACCEPTS(INERTIA, md_atoms, D, F, D, D),                                            \
        JIT_ROW_ACCEPTS(INERTIA, md_atoms, D, D, D, D),                                            \
        JIT_ROW_ACCEPTS(CROSS_SUM, md_atoms, D, F, F, D, F),                                       \
        JIT_ROW_ACCEPTS(CROSS_SUM, md_atoms, D, F, D, D, F),                                       \
        JIT_ROW_ACCEPTS(CROSS_SUM, md_atoms, D, D, D, D, D),                                       \
        JIT_ROW_ACCEPTS(PRINCIPAL_AXES, md_principal_axes, D, D, D, D),                            \
        JIT_ROW(EULER_ZYZ, md_frames, D, D), JIT_ROW(TILT, md_frames, D, D, D),                    \
        JIT_ROW(ANGULAR_VELOCITY, md_frames, D, I32, D, D),                                        \
        JIT_ROW(DECOMPOSE, md_frames, D, D, D, D), JIT_ROW(MAGNITUDE, md_magnitude, D, F),         \
        JIT_ROW(MAGNITUDE, md_magnitude, D, D),                                                    \
        JIT_ROW_ACCEPTS(TIME_DERIVATIVE, md_time_derivative, D, I32, F, D),                        \
        JIT_ROW_ACCEPTS(TIME_DERIVATIVE, md_time_derivative, D, I32, D, D),                        \
        JIT_ROW_ACCEPTS(KINETIC, md_atoms, D, F, F, F),                                            \
        JIT_ROW_ACCEPTS(KINETIC, md_atoms, D, F, D, F),                                            \
        JIT_ROW_ACCEPTS(KINETIC, md_atoms, D, D, D, D),                                            \
        JIT_ROW_ACCEPTS(GYRATION, md_atoms, D, D, D, F, F),                                        \
        JIT_ROW_ACCEPTS(GYRATION, md_atoms, D, D, D, F, D),                                        \
        JIT_ROW_ACCEPTS(GYRATION, md_atoms, D, D, D, D, D),                                        \
        JIT_ROW_ACCEPTS(RMSD, md_rmsd, D, D, F, F, F),                                             \
        JIT_ROW_ACCEPTS(RMSD, md_rmsd, D, D, F, D, F),                                             \
        JIT_ROW_ACCEPTS(RMSD, md_rmsd, D, D, F, D, D),                                             \
        JIT_ROW_ACCEPTS(RMSD, md_rmsd, D, D, D, D, D),                                             \
        JIT_ROW_ACCEPTS(OBSERVABLES, md_atoms, D, D, D, D, D, F, F, F, F),                         \
        JIT_ROW_ACCEPTS(OBSERVABLES, md_atoms, D, D, D, D, D, F, D, F, F),                         \
        JIT_ROW_ACCEPTS(OBSERVABLES, md_atoms, D, D, D, D, D, D, D, D, D)

#endif
