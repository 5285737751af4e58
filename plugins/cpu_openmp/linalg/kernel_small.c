/* SPDX-License-Identifier: Apache-2.0 */
/* A tile of c stays in registers over the whole inner axis; b is not packed. The last vector of a
 * row overlaps the vector before it; this is cheaper than a masked vector.
 * Tests: conformance/linalg/linalg.c */
#include "kernel_small.h"

#include "cpu_openmp/util/kernel_level.h"

#define REAL float
#define NAME(x) x##_f32
#include "kernel_small.inc"

#define REAL double
#define NAME(x) x##_f64
#include "kernel_small.inc"

extern const small_kernels LEVEL_NAME(small);
const small_kernels LEVEL_NAME(small) = {
    .product = {product_f32, product_f64},
    .columns_min = {16 / sizeof(float), 16 / sizeof(double)},
};
