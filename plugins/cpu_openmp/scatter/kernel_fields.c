/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/scatter/fields.c */
#include "kernel_fields.h"
#include "cpu_openmp/util/kernel_functions.h"

#include "cpu_openmp/util/kernel_level.h"

#define REAL float
#define NAME(x) x##_f32
#define PERIODIC_LIMIT PERIODIC_LIMIT_F32
#include "kernel_fields.inc"

#define REAL double
#define NAME(x) x##_f64
#define PERIODIC_LIMIT PERIODIC_LIMIT_F64
#include "kernel_fields.inc"

extern const field_kernels LEVEL_NAME(fields);
const field_kernels LEVEL_NAME(fields) = {.euler = {euler_f32, euler_f64}};
