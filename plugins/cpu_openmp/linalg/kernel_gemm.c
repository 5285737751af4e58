/* SPDX-License-Identifier: Apache-2.0 */
/* The scheme of K. Goto and R. van de Geijn (ACM Trans. Math. Softw. 34, 12, 2008): blocks of a and
 * b are copied so that the innermost loop, which keeps a tile of c in registers, reads them in order. The block of a
 * stays in the L2 cache; a panel of the block of b stays in the L1 cache.
 * Tests: conformance/linalg/linalg.c */
#include "kernel_gemm.h"

#include "shared/host/util/counts.h"
#include "cpu_openmp/util/kernel_level.h"

/* Extents of the copied blocks; BLOCK_ROWS is a multiple of every TILE_ROWS. */
#define BLOCK_INNER 256
#define BLOCK_ROWS 96
#define BLOCK_COLUMNS 1024

#define REAL float
#define LANES LANES_F32
#define PARTS 1
#define NAME(x) x##_f32
#include "kernel_gemm.inc"

#define REAL double
#define LANES LANES_F64
#define PARTS 1
#define NAME(x) x##_f64
#include "kernel_gemm.inc"

#define REAL float
#define LANES LANES_F32
#define PARTS 2
#define NAME(x) x##_c64
#include "kernel_gemm.inc"

#define REAL double
#define LANES LANES_F64
#define PARTS 2
#define NAME(x) x##_c128
#include "kernel_gemm.inc"

extern const gemm_kernels LEVEL_NAME(gemm);
const gemm_kernels LEVEL_NAME(gemm) = {
    .product = {product_f32, product_f64, product_c64, product_c128},
    .scratch_bytes = BLOCK_INNER * (BLOCK_ROWS + BLOCK_COLUMNS) * sizeof(double),
};
