/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_elementary.h - the elementary functions of the formulas for all arguments. */
#pragma once

/* The functions of these names in kernel_functions.h are for arguments near 0. */
#define sin_f32 near_sin_f32
#define cos_f32 near_cos_f32
#define tan_f32 near_tan_f32
#define sin_f64 near_sin_f64
#define cos_f64 near_cos_f64
#define tan_f64 near_tan_f64
#include "kernel_functions.h"
#undef sin_f32
#undef cos_f32
#undef tan_f32
#undef sin_f64
#undef cos_f64
#undef tan_f64

/* For arguments far from 0, calls the C library. */
#define PERIODIC(name)                                                                             \
    INLINE f32 name##_f32(f32 a)                                                                   \
    {                                                                                              \
        return magnitude_f32(a) <= PERIODIC_LIMIT_F32 ? near_##name##_f32(a) : (f32)name((f64)a);  \
    }                                                                                              \
    INLINE f64 name##_f64(f64 a)                                                                   \
    {                                                                                              \
        return magnitude_f64(a) <= PERIODIC_LIMIT_F64 ? near_##name##_f64(a)                       \
                                                      : library_periodic(name, a);                 \
    }
PERIODIC(sin)
PERIODIC(cos)
PERIODIC(tan)
#undef PERIODIC

#include "shared/formula/special_f32.dev"
#include "shared/formula/special_f64.dev"
