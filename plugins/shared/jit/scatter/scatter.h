/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scatter.h - the scatter family on devices: rows for a backend's table of kernels. Run functions
 * as in plugin.h. Without f64 a device has only f32 scatter_euler, scatter_vector and
 * scatter_slices.
 */
#ifndef PLUGINS_SHARED_JIT_SCATTER_SCATTER_H
#define PLUGINS_SHARED_JIT_SCATTER_SCATTER_H

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

jit_run jit_scatter;

#define JIT_SCATTER_ROWS                                                                           \
    JIT_ROW(SCATTER_EULER, scatter, F, F, F, F, F),                                                \
        JIT_ROW(SCATTER_EULER, scatter, D, D, D, D, D), JIT_ROW(SCATTER_VECTOR, scatter, F, F, F), \
        JIT_ROW(SCATTER_VECTOR, scatter, D, D, D),                                                 \
        JIT_ROW(SCATTER_POLARIZATION, scatter, C, F, C, D, D),                                     \
        JIT_ROW(SCATTER_POLARIZATION, scatter, Z, D, Z, D, D),                                     \
        JIT_ROW(SCATTER_EWALD, scatter, I32, F, D, D, D, D),                                       \
        JIT_ROW(SCATTER_EWALD, scatter, I32, D, D, D, D, D),                                       \
        JIT_ROW(SCATTER_PROJECTION, scatter, F, C, I32, F, D, D, D, D),                            \
        JIT_ROW(SCATTER_PROJECTION, scatter, D, Z, I32, D, D, D, D, D),                            \
        JIT_ROW(SCATTER_SLICES, scatter, C, C, I32, C),                                            \
        JIT_ROW(SCATTER_SLICES, scatter, Z, Z, I32, Z),                                            \
        JIT_ROW(SCATTER_IMAGES, scatter, F, C, I32, C, D, D, D, D, D),                             \
        JIT_ROW(SCATTER_IMAGES, scatter, D, Z, I32, Z, D, D, D, D, D),                             \
        JIT_ROW(SCATTER_AVERAGE, scatter, F, F, D, D),                                             \
        JIT_ROW(SCATTER_AVERAGE, scatter, D, D, D, D)

#endif
