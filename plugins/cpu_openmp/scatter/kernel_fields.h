/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_fields.h - the loops of scatter_euler over adjacent voxels; tables have one entry per type: [f32, f64]. */
#pragma once

#include <stdint.h>

typedef struct field_kernels {
    /* Computes the seven fields of n voxels from volume fraction, alignment, theta and psi. If an angle of an aligned
     * voxel is NaN or far from 0, writes nothing and returns 0. */
    int (*euler[2])(char *const out[7], const char *const in[4], int64_t n);
} field_kernels;
