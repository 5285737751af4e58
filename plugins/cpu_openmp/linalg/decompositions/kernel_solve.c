/* SPDX-License-Identifier: Apache-2.0 */
/* One system or matrix per lane. Rows are exchanged under masks while the elimination reads and writes them.
 * Tests: conformance/linalg/factors.c */
#include "kernel_solve.h"

#include <math.h>

#include "cpu_openmp/util/kernel_level.h"

#define WIDTH (SOLVE_ORDER + SOLVE_COLUMNS)

#define REAL float
#define BITS int32_t
#define BITS_OF_MAGNITUDE INT32_MAX
#define LANES LANES_F32
#define NAME(x) x##_f32
#define LARGE 0x1p+50f
#define SMALL 0x1p-100f
#include "kernel_solve.inc"

#define REAL double
#define BITS int64_t
#define BITS_OF_MAGNITUDE INT64_MAX
#define LANES LANES_F64
#define NAME(x) x##_f64
#define LARGE 0x1p+400
#define SMALL 0x1p-900
#include "kernel_solve.inc"

extern const solve_kernels LEVEL_NAME(solve);
const solve_kernels LEVEL_NAME(solve) = {.lanes = {LANES_F32, LANES_F64},
                                         .solve = {solve_f32, solve_f64},
                                         .cholesky = {cholesky_f32, cholesky_f64}};
