/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/arithmetic.c, conformance/array/functions.c */
#include "kernel_elementwise.h"

#include <float.h>
#include <math.h>

#include "shared/host/array/complex.h"
#include "cpu_openmp/util/kernel_functions.h"
#include "cpu_openmp/util/kernel_functions_lanes.h"
#include "cpu_openmp/util/kernel_level.h"
#include "cpu_openmp/util/kernel_stream.h"

/* ---- Real numbers -------------------------------------------------------------------------- */

/* Elements that are checked for special arguments at a time. */
#define GUARDED 1024
#define STREAM_GUARDED 256

/* Cache lines per iteration of non-temporal loops: inner loops of more than 16 iterations, which
 * compilers vectorise instead of unrolling them first. */
#define LINES 4

#define REAL float
#define NAME(x) x##_f32
#define PERIODIC_LIMIT PERIODIC_LIMIT_F32
#define EXP_LIMIT EXP_NORMAL_LIMIT_F32
#define LEAST_NORMAL FLT_MIN
#define LARGEST FLT_MAX
#define EXP_LOG !HAVE_LANES
#include "kernel_elementwise.inc"

#define REAL double
#define NAME(x) x##_f64
#define PERIODIC_LIMIT PERIODIC_LIMIT_F64
#define EXP_LIMIT EXP_NORMAL_LIMIT_F64
#define LEAST_NORMAL DBL_MIN
#define LARGEST DBL_MAX
#define EXP_LOG 1
#include "kernel_elementwise.inc"

/* ---- Complex numbers ----------------------------------------------------------------------- */

/* Complex numbers of a piece; special quotients are checked for once per piece. */
#define PAIRS 256

/*
 * Quotients and magnitudes of c64 are formed in double, where nothing overflows. quotient_*
 * returns whether the operands were finite and the divisor not 0.
 */
INLINE int quotient_c64(float *q_re, float *q_im, float ar, float ai, float br, float bi)
{
    double a = (double)ar, b = (double)ai, c = (double)br, d = (double)bi;
    double square = c * c + d * d, re = a * c + b * d, im = b * c - a * d;
    *q_re = (float)(re / square);
    *q_im = (float)(im / square);
    return (square > 0.0) & (square < __builtin_inf()) &
           (__builtin_fabs(re) + __builtin_fabs(im) < __builtin_inf());
}

INLINE float magnitude_c64(float re, float im)
{
    double a = (double)re, b = (double)im;
    double size = __builtin_sqrt(a * a + b * b);
    int infinite = (__builtin_fabs(a) == __builtin_inf()) | (__builtin_fabs(b) == __builtin_inf());
    return (float)(infinite ? __builtin_inf() : size);
}

/* The exponent field of the larger part, 1 .. 2045. */
INLINE uint64_t exponent_of(double re, double im)
{
    double a = __builtin_fabs(re), b = __builtin_fabs(im), larger = a > b ? a : b;
    larger = larger > 0x1p-1022 ? larger : 0x1p-1022;
    larger = larger < 0x1p1022 ? larger : 0x1p1022;
    return bits_f64(larger) >> 52;
}

/* Scaled so that the larger parts are in [1, 4), or subnormal numbers times 2^1022. */
INLINE int quotient_c128(double *q_re, double *q_im, double ar, double ai, double br, double bi)
{
    uint64_t a_field = exponent_of(ar, ai), b_field = exponent_of(br, bi);
    double a_scale = f64_bits((2046u - a_field) << 52), b_scale = f64_bits((2046u - b_field) << 52);
    double a = ar * a_scale, b = ai * a_scale, c = br * b_scale, d = bi * b_scale;
    double square = c * c + d * d, re = a * c + b * d, im = b * c - a * d;
    /* 2^(a_field - b_field) in two factors, so that only the second product can round. */
    uint64_t biased = a_field - b_field + 2046u, half = biased >> 1;
    double first = f64_bits(half << 52), second = f64_bits((biased - half) << 52);
    *q_re = re / square * first * second;
    *q_im = im / square * first * second;
    return (square > 0.0) & (square < __builtin_inf()) &
           (__builtin_fabs(re) + __builtin_fabs(im) < __builtin_inf());
}

INLINE double magnitude_c128(double re, double im)
{
    uint64_t field = exponent_of(re, im);
    double scale = f64_bits((2046u - field) << 52), a = re * scale, b = im * scale;
    double size = __builtin_sqrt(a * a + b * b) * f64_bits(field << 52);
    int infinite =
        (__builtin_fabs(re) == __builtin_inf()) | (__builtin_fabs(im) == __builtin_inf());
    return infinite ? __builtin_inf() : size;
}

#define REAL float
#define NAME(x) x##_c64
#define PART_ROW row_f32
#include "kernel_complex.inc"

#define REAL double
#define NAME(x) x##_c128
#define PART_ROW row_f64
#include "kernel_complex.inc"

extern const elementwise_kernels LEVEL_NAME(elementwise);
const elementwise_kernels LEVEL_NAME(elementwise) = {
    .row = {[ROW_F32] = row_f32, [ROW_F64] = row_f64, [ROW_C64] = row_c64, [ROW_C128] = row_c128}};
