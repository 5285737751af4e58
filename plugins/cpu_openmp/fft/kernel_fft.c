/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/fft/fft.c, tests/cpu_openmp/test_kernels_openmp.c */
#include "kernel_fft.h"

#include "cpu_openmp/util/kernel_level.h"

/* A line alone. */
#define NAME(x) f32_single_##x
#define NAME2(x) f32_single_##x
#define REAL float
#define MEMORY float
#define LANES 1
#define VEC float
#include "kernel_fft.inc"

#define NAME(x) f64_single_##x
#define NAME2(x) f64_single_##x
#define REAL double
#define MEMORY double
#define LANES 1
#define VEC double
#include "kernel_fft.inc"

#define NAME(x) f32_##x
#define NAME2(x) f32_##x
#define REAL float
#define MEMORY float
#define LANES LANES_F32
#define VEC f32_vector
typedef float f32_vector __attribute__((vector_size(VECTOR_BYTES), may_alias));
#include "kernel_fft.inc"

#define NAME(x) f64_##x
#define NAME2(x) f64_##x
#define REAL double
#define MEMORY double
#define LANES LANES_F64
#define VEC f64_vector
typedef double f64_vector __attribute__((vector_size(VECTOR_BYTES), may_alias));
#include "kernel_fft.inc"

extern const fft_kernels LEVEL_NAME(fft);
const fft_kernels LEVEL_NAME(fft) = {{
    {LANES_F32, f32_any_group, f32_single_any_group, f32_columns, f32_rows, f32_load_line,
     f32_store_line, f32_chirp, f32_spectrum, f32_unchirp, f32_split, f32_join},
    {LANES_F64, f64_any_group, f64_single_any_group, f64_columns, f64_rows, f64_load_line,
     f64_store_line, f64_chirp, f64_spectrum, f64_unchirp, f64_split, f64_join},
}};
