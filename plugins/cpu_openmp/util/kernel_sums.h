/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_sums.h - vectors of doubles, and sums that also sum their rounding errors. */
#pragma once

#include "cpu_openmp/util/kernel_level.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

typedef double lanes __attribute__((vector_size(VECTOR_BYTES)));
typedef double lanes_at_any __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));

/* sum += x; adds the rounding error to `lost`. D. E. Knuth's exact sum of two numbers (TAOCP 2, 4.2.2), which needs no
 * comparison. */
#define ADD(sum, lost, x)                                                                          \
    do {                                                                                           \
        __typeof__(sum) before = (sum), term = (x), after = before + term;                         \
        __typeof__(sum) part = after - before;                                                     \
        (lost) += (before - (after - part)) + (term - part);                                       \
        (sum) = after;                                                                             \
    } while (0)

INLINE double across(lanes x)
{
    for (int half = LANES_F64 / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; i++)
            x[i] += x[i + half];
    }
    return x[0];
}

/* Loads a float for each lane. Uses intrinsics, because GCC would convert the two halves of the vector
 * separately. */
INLINE lanes load_f32(const char *at)
{
#if defined(__AVX512F__)
    return (lanes)_mm512_cvtps_pd(_mm256_loadu_ps((const float *)(const void *)at));
#elif defined(__AVX2__)
    return (lanes)_mm256_cvtps_pd(_mm_loadu_ps((const float *)(const void *)at));
#else
    typedef float source __attribute__((vector_size(VECTOR_BYTES / 2), aligned(4), may_alias));
    return __builtin_convertvector(*(const source *)(const void *)at, lanes);
#endif
}

/* Vectors of floats, and their two halves as doubles. */
typedef float floats __attribute__((vector_size(VECTOR_BYTES)));
typedef float floats_at_any __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

INLINE floats floats_at(const char *at)
{
    return *(const floats_at_any *)(const void *)at;
}

INLINE lanes low_half(floats x)
{
#if defined(__AVX512F__)
    return (lanes)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x));
#elif defined(__AVX2__)
    return (lanes)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x));
#else
    return __builtin_convertvector(__builtin_shufflevector(x, x, 0, 1), lanes);
#endif
}

INLINE lanes high_half(floats x)
{
#if defined(__AVX512F__)
    return (lanes)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)x, 1));
#elif defined(__AVX2__)
    return (lanes)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1));
#else
    return __builtin_convertvector(__builtin_shufflevector(x, x, 2, 3), lanes);
#endif
}

INLINE lanes load_f64(const char *at)
{
    return *(const lanes_at_any *)(const void *)at;
}
