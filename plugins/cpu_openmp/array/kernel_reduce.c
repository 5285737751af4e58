/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/reduce.c */
#include "kernel_reduce.h"

#include <string.h>

#include "cpu_openmp/util/kernel_sums.h"
#include "kernel_columns.h"

#define REAL float
#define NAME(x) x##_f32
#define LOAD load_f32
#define TERM(x, center) (x)
#include "kernel_reduce.inc"

#define REAL double
#define NAME(x) x##_f64
#define LOAD load_f64
#define TERM(x, center) (x)
#include "kernel_reduce.inc"

#define SQUARE(x)                                                                                  \
    __extension__({                                                                                \
        __typeof__(x) square_of = (x);                                                             \
        square_of *square_of;                                                                      \
    })

#define REAL float
#define NAME(x) x##_deviation_f32
#define LOAD load_f32
#define CENTERED 1
#define TERM(x, center) SQUARE((x) - (center))
#include "kernel_reduce.inc"

#define REAL double
#define NAME(x) x##_deviation_f64
#define LOAD load_f64
#define CENTERED 1
#define TERM(x, center) SQUARE((x) - (center))
#include "kernel_reduce.inc"

/*
 * The smaller of a and b. Where they are equal, or one is NaN, x is b and y is a: the bits of both
 * together are then that number, -0 if one of two zeros is, and a NaN.
 */
INLINE float less_f32(float a, float b)
{
    float x = a < b ? a : b, y = b < a ? b : a;
    uint32_t p, q;
    memcpy(&p, &x, sizeof p);
    memcpy(&q, &y, sizeof q);
    p |= q;
    memcpy(&x, &p, sizeof x);
    return x;
}

INLINE double less_f64(double a, double b)
{
    double x = a < b ? a : b, y = b < a ? b : a;
    uint64_t p, q;
    memcpy(&p, &x, sizeof p);
    memcpy(&q, &y, sizeof q);
    p |= q;
    memcpy(&x, &p, sizeof x);
    return x;
}

#define WORD double

#define NAME(x) x##_product_f32
#define ELEMENT float
#define PART double
#define LANE double
#define OF(x) ((double)*(const float *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) * (b))
#define JOIN_LANES(a, b) ((a) * (b))
#define JOIN(w, x) ((w) * (x))
#define NOTHING 1.0
#include "kernel_fold.inc"

#define NAME(x) x##_product_f64
#define ELEMENT double
#define PART double
#define LANE double
#define OF(x) ((double)*(const double *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) * (b))
#define JOIN_LANES(a, b) ((a) * (b))
#define JOIN(w, x) ((w) * (x))
#define NOTHING 1.0
#include "kernel_fold.inc"

#define NAME(x) x##_min_f32
#define ELEMENT float
#define PART float
#define LANE float
#define OF(x) (*(const float *)(const void *)(x))
#define JOIN_PARTS(a, b) less_f32(a, b)
#define JOIN_LANES(a, b) less_f32(a, b)
#define JOIN(w, x) (less_f64((w), (double)(x)))
#define NOTHING ((float)__builtin_inf())
#include "kernel_fold.inc"

#define NAME(x) x##_min_f64
#define ELEMENT double
#define PART double
#define LANE double
#define OF(x) (*(const double *)(const void *)(x))
#define JOIN_PARTS(a, b) less_f64(a, b)
#define JOIN_LANES(a, b) less_f64(a, b)
#define JOIN(w, x) (less_f64((w), (double)(x)))
#define NOTHING ((double)__builtin_inf())
#include "kernel_fold.inc"

/* max(x) = -min(-x). */
#define NAME(x) x##_max_f32
#define ELEMENT float
#define PART float
#define LANE float
#define OF(x) (-*(const float *)(const void *)(x))
#define JOIN_PARTS(a, b) less_f32(a, b)
#define JOIN_LANES(a, b) less_f32(a, b)
#define JOIN(w, x) (-less_f64(-(w), (double)(x)))
#define NOTHING ((float)__builtin_inf())
#include "kernel_fold.inc"

#define NAME(x) x##_max_f64
#define ELEMENT double
#define PART double
#define LANE double
#define OF(x) (-*(const double *)(const void *)(x))
#define JOIN_PARTS(a, b) less_f64(a, b)
#define JOIN_LANES(a, b) less_f64(a, b)
#define JOIN(w, x) (-less_f64(-(w), (double)(x)))
#define NOTHING ((double)__builtin_inf())
#include "kernel_fold.inc"

extern const reduce_kernels LEVEL_NAME(reduce);
const reduce_kernels LEVEL_NAME(reduce) = {
    .sum = {{run_f32, columns_f32}, {run_f64, columns_f64}},
    .deviation = {{run_deviation_f32, columns_deviation_f32},
                  {run_deviation_f64, columns_deviation_f64}},
    .product = {{run_product_f32, columns_product_f32}, {run_product_f64, columns_product_f64}},
    .min = {{run_min_f32, columns_min_f32}, {run_min_f64, columns_min_f64}},
    .max = {{run_max_f32, columns_max_f32}, {run_max_f64, columns_max_f64}},
};
