/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/array.c */
#include "kernel_convert.h"

#include <string.h>

#include "cpu_openmp/util/kernel_level.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

static void f64_f32(void *restrict out, const void *restrict in, int64_t n)
{
    double *restrict to = out;
    const float *restrict from = in;
    for (int64_t i = 0; i < n; i++)
        to[i] = (double)from[i];
}

static void f32_f64(void *restrict out, const void *restrict in, int64_t n)
{
    float *restrict to = out;
    const double *restrict from = in;
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)from[i];
}

static void f32_i32(void *restrict out, const void *restrict in, int64_t n)
{
    float *restrict to = out;
    const int32_t *restrict from = in;
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)from[i];
}

static void f64_i32(void *restrict out, const void *restrict in, int64_t n)
{
    double *restrict to = out;
    const int32_t *restrict from = in;
    for (int64_t i = 0; i < n; i++)
        to[i] = (double)from[i];
}

static void f32_i8(void *restrict out, const void *restrict in, int64_t n)
{
    float *restrict to = out;
    const int8_t *restrict from = in;
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)from[i];
}

static void f32_u8(void *restrict out, const void *restrict in, int64_t n)
{
    float *restrict to = out;
    const uint8_t *restrict from = in;
    for (int64_t i = 0; i < n; i++)
        to[i] = (float)from[i];
}

static void f32_bf16(void *restrict out, const void *restrict in, int64_t n)
{
    uint32_t *restrict to = out;
    const uint16_t *restrict from = in;
    for (int64_t i = 0; i < n; i++)
        to[i] = (uint32_t)from[i] << 16;
}

static void bf16_f32(void *restrict out, const void *restrict in, int64_t n)
{
    uint16_t *restrict to = out;
    const uint32_t *restrict from = in;
    for (int64_t i = 0; i < n; i++) {
        uint32_t x = from[i];
        uint32_t rounded = (x + 0x7fffu + (x >> 16 & 1u)) >> 16;
        uint32_t quiet = (x >> 31 << 15) | 0x7fc0u;
        to[i] = (uint16_t)((x & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
    }
}

#if defined(__F16C__)
/* The last elements of a run, up to a vector, through vectors on the stack. */
static void f32_f16(void *restrict out, const void *restrict in, int64_t n)
{
    float *restrict to = out;
    const uint16_t *restrict from = in;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm_loadu_si128((const __m128i *)(const void *)(from + i));
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(h));
    }
    if (i < n) {
        uint16_t rest[8] = {0};
        float result[8];
        memcpy(rest, from + i, (size_t)(n - i) * sizeof *from);
        _mm256_storeu_ps(result, _mm256_cvtph_ps(_mm_loadu_si128((const void *)rest)));
        memcpy(to + i, result, (size_t)(n - i) * sizeof *to);
    }
}

static void f16_f32(void *restrict out, const void *restrict in, int64_t n)
{
    uint16_t *restrict to = out;
    const float *restrict from = in;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i h = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(void *)(to + i), h);
    }
    if (i < n) {
        float rest[8] = {0};
        uint16_t result[8];
        memcpy(rest, from + i, (size_t)(n - i) * sizeof *from);
        _mm_storeu_si128((void *)result,
                         _mm256_cvtps_ph(_mm256_loadu_ps(rest), _MM_FROUND_TO_NEAREST_INT));
        memcpy(to + i, result, (size_t)(n - i) * sizeof *to);
    }
}
#endif

extern const convert_kernels LEVEL_NAME(convert);
const convert_kernels LEVEL_NAME(convert) = {
    .run =
        {
            [COLLET_F64] = {[COLLET_F32] = f64_f32, [COLLET_I32] = f64_i32},
            [COLLET_F32] =
                {
                    [COLLET_F64] = f32_f64,
                    [COLLET_I32] = f32_i32,
                    [COLLET_I8] = f32_i8,
                    [COLLET_U8] = f32_u8,
                    [COLLET_BF16] = f32_bf16,
#if defined(__F16C__)
                    [COLLET_F16] = f32_f16,
#endif
                },
            [COLLET_BF16] = {[COLLET_F32] = bf16_f32},
#if defined(__F16C__)
            [COLLET_F16] = {[COLLET_F32] = f16_f32},
#endif
        },
};
