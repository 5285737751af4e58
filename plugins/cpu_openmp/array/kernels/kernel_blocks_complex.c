/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/elementwise.c */
#include "kernel_blocks.h"

#include "cpu_openmp/util/kernel_level.h"
#include "cpu_openmp/util/kernel_elementary.h"
#include "shared/formula/formulas.h"
#include "shared/formula/kinds.h"

/* The number of complex numbers in a piece. */
#define PAIRS 256

#define BLOCK(x) block_##x##_c64
#define F(x) x##_c64
#define TYPE c64
#define PART f32
#include "kernel_blocks_complex.inc"

#define BLOCK(x) block_##x##_c128
#define F(x) x##_c128
#define TYPE c128
#define PART f64
#include "kernel_blocks_complex.inc"

extern const block_kernels LEVEL_NAME(blocks_complex);
const block_kernels LEVEL_NAME(blocks_complex) = {
    .find = {[COLLET_C64] = block_find_c64, [COLLET_C128] = block_find_c128}};
