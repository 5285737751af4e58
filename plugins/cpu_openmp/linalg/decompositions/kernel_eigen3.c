/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cyclic Jacobi, vectorised across matrices: every element is a row of numbers, one per matrix,
 * that stays in the L1 cache, and each rotation is a loop along such rows without branches. A
 * converged matrix is rotated by zero while others of its group continue, so that results do not
 * depend on neighbours.
 *
 * The product of the rotations is stored as a quaternion. A rotation whose half angle has the tangent h multiplies
 * the quaternion by (1, h times the rotation's axis). This takes four multiplications and no root, while rotating the
 * vectors would take twelve; and the resulting vectors are orthonormal after any number of rotations. Each rotation
 * makes the quaternion longer, by a factor of no more than 1 + h^2 < 1.18.
 * Tests: conformance/linalg/spectra.c
 */
#include "kernel_eigen3.h"

#include <math.h>
#include <string.h>

#include "cpu_openmp/util/kernel_level.h"

/* Matrices of a group: rows of 256 bytes. */
#define GROUP_OF(REAL) (256 / (int)sizeof(REAL))

/* Convergence is quadratic: fewer than ten sweeps suffice. The limit only guarantees that the loop ends. */
#define MAX_SWEEPS 24

#define ABSOLUTE(x) _Generic((x), float : __builtin_fabsf, double : __builtin_fabs)(x)
#define WITH_SIGN(x, y)                                                                            \
    _Generic((x), float : __builtin_copysignf, double : __builtin_copysign)((x), (y))

#define REAL float
#define BITS uint32_t
#define NAME(x) x##_f32
#define MANTISSA 23
#define EXPONENTS 255
#define NEGLIGIBLE 0x1p-52f
#define SMALLEST 0x1p-126f
#include "kernel_eigen3.inc"

#define REAL double
#define BITS uint64_t
#define NAME(x) x##_f64
#define MANTISSA 52
#define EXPONENTS 2047
#define NEGLIGIBLE 0x1p-110
#define SMALLEST 0x1p-1022
#include "kernel_eigen3.inc"

extern const eigen3_kernels LEVEL_NAME(eigen3);
const eigen3_kernels LEVEL_NAME(eigen3) = {.run = {run_f32, run_f64}};
