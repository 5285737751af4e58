/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_lanes.h - the parts that the kernels of atoms in vectors share. Tests: conformance/md/md.c */
#pragma once

#include "cpu_openmp/util/kernel_level.h"
#include "kernel_atoms.h"

#define W LANES_F64

typedef double lanes __attribute__((vector_size(8 * W)));
typedef double lanes_at_any __attribute__((vector_size(8 * W), aligned(8), may_alias));

/* Three coordinates of W atoms. */
typedef struct triple {
    lanes x, y, z;
} triple;

/* Laid out as frame_sums. */
typedef struct accumulators {
    lanes first[3], second[6], mass, momentum[3], vis_viva, angular[3], force[3], torque[3], unused;
} accumulators;

_Static_assert(sizeof(accumulators) == sizeof(frame_sums) * W, "one vector for each number");

INLINE void add_cross(lanes sum[3], triple a, triple b)
{
    sum[0] += a.y * b.z;
    sum[1] += a.z * b.x;
    sum[2] += a.x * b.y;
    sum[0] -= a.z * b.y;
    sum[1] -= a.x * b.z;
    sum[2] -= a.y * b.x;
}

/* Parts of the transposition of W vectors. */
#if W == 8
#define EVEN_PAIRS(a, b) __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define ODD_PAIRS(a, b) __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#elif W == 4
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 4, 2, 6)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 5, 3, 7)
#define LOW(a, b) __builtin_shufflevector(a, b, 0, 1, 4, 5)
#define HIGH(a, b) __builtin_shufflevector(a, b, 2, 3, 6, 7)
#else
#define EVEN(a, b) __builtin_shufflevector(a, b, 0, 2)
#define ODD(a, b) __builtin_shufflevector(a, b, 1, 3)

#endif
