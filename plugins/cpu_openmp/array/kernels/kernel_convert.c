/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/array/array.c */
#include "kernel_convert.h"

#include <complex.h>
#include <string.h>

#include "cpu_openmp/util/kernel_sums.h"

#define TYPE_F32 float
#define TYPE_F64 double
#define TYPE_I8 int8_t
#define TYPE_U8 uint8_t
#define TYPE_I16 int16_t
#define TYPE_U16 uint16_t
#define TYPE_I32 int32_t
#define TYPE_U32 uint32_t
#define TYPE_I64 int64_t
#define TYPE_U64 uint64_t
#define TYPE_BOOL uint8_t
#define TYPE_C64 float complex
#define TYPE_C128 double complex

/* X(to, from): conversions that are a cast in C (CASTS), and conversions from or to bool (TRUTHS). */
#define CASTS(X)                                                                                   \
    X(F64, F32)                                                                                    \
    X(F32, F64)                                                                                    \
    X(F32, I8) X(F32, U8) X(F32, I16) X(F32, U16) X(F32, I32) X(F32, U32) X(F32, I64) X(F32, U64)  \
        X(F64, I8) X(F64, U8) X(F64, I16) X(F64, U16) X(F64, I32) X(F64, U32) X(F64, I64)          \
            X(F64, U64) X(I16, I8) X(I16, U8) X(U16, U8) X(I32, I8) X(I32, U8) X(I32, I16)         \
                X(I32, U16) X(U32, U8) X(U32, U16) X(I64, I8) X(I64, U8) X(I64, I16) X(I64, U16)   \
                    X(I64, I32) X(I64, U32) X(U64, U8) X(U64, U16) X(U64, U32) X(C64, F32)         \
                        X(C128, F64) X(C128, F32)
#define TRUTHS(X)                                                                                  \
    X(BOOL, F32)                                                                                   \
    X(BOOL, F64)                                                                                   \
    X(BOOL, I8) X(BOOL, U8) X(BOOL, I16) X(BOOL, U16) X(BOOL, I32) X(BOOL, U32) X(BOOL, I64)       \
        X(BOOL, U64) X(F32, BOOL) X(F64, BOOL) X(I8, BOOL) X(U8, BOOL) X(I16, BOOL) X(U16, BOOL)   \
            X(I32, BOOL) X(U32, BOOL) X(I64, BOOL) X(U64, BOOL)

#define LOOP(to_dtype, from_dtype, value)                                                          \
    static void to_dtype##_##from_dtype(void *restrict out, const void *restrict in, int64_t n)    \
    {                                                                                              \
        TYPE_##to_dtype *restrict to = out;                                                        \
        const TYPE_##from_dtype *restrict from = in;                                               \
        for (int64_t i = 0; i < n; i++)                                                            \
            to[i] = (TYPE_##to_dtype)(value);                                                      \
    }
#define CAST(to_dtype, from_dtype) LOOP(to_dtype, from_dtype, from[i])
#define TRUTH(to_dtype, from_dtype) LOOP(to_dtype, from_dtype, from[i] != 0)
CASTS(CAST)
TRUTHS(TRUTH)

/* X(to, from, least, most): conversions from floats truncate, saturate at the limits `least` and `most`, and map
 * NaN to 0. */
#define LIMITED(X)                                                                                 \
    X(I8, F32, INT8_MIN, INT8_MAX)                                                                 \
    X(I8, F64, INT8_MIN, INT8_MAX)                                                                 \
    X(U8, F32, 0, UINT8_MAX) X(U8, F64, 0, UINT8_MAX) X(I16, F32, INT16_MIN, INT16_MAX)            \
        X(I16, F64, INT16_MIN, INT16_MAX) X(U16, F32, 0, UINT16_MAX) X(U16, F64, 0, UINT16_MAX)    \
            X(I32, F32, INT32_MIN, INT32_MAX) X(I32, F64, INT32_MIN, INT32_MAX)
INLINE int32_t limited(double x, double least, double most)
{
    x = x < least ? least : x;
    x = x > most ? most : x;
    return (int32_t)(x == x ? x : 0.0);
}
#if defined(__AVX512F__)
INLINE void limited_lanes(int32_t *to, lanes x, double least, double most)
{
    __mmask8 known = _mm512_cmp_pd_mask((__m512d)x, (__m512d)x, _CMP_ORD_Q);
    __m512d above = _mm512_max_pd((__m512d)x, _mm512_set1_pd(least));
    __m512d within = _mm512_min_pd(above, _mm512_set1_pd(most));
    _mm256_storeu_si256((void *)to, _mm512_maskz_cvttpd_epi32(known, within));
}
#elif defined(__AVX2__)
INLINE void limited_lanes(int32_t *to, lanes x, double least, double most)
{
    __m256d known = _mm256_cmp_pd((__m256d)x, (__m256d)x, _CMP_ORD_Q);
    __m256d above = _mm256_max_pd((__m256d)x, _mm256_set1_pd(least));
    __m256d within = _mm256_min_pd(above, _mm256_set1_pd(most));
    _mm_storeu_si128((void *)to, _mm256_cvttpd_epi32(_mm256_and_pd(within, known)));
}
#endif
#if defined(__AVX2__)
#define LIMIT_LANES(from_dtype, least, most)                                                       \
    for (; i + LANES_F64 <= count; i += LANES_F64)                                                 \
        limited_lanes(block + i, LOAD_##from_dtype(from + i), least, most)
#else
#define LIMIT_LANES(from_dtype, least, most) (void)0 /* the compiler makes vectors of the next loop */
#endif
/* Converts PART elements at a time to int32_t, and these to narrower integers. */
#define PART 512
#define LIMIT(to_dtype, from_dtype, least, most)                                                   \
    static void to_dtype##_##from_dtype(void *restrict out, const void *restrict in, int64_t n)    \
    {                                                                                              \
        TYPE_##to_dtype *restrict to = out;                                                        \
        const TYPE_##from_dtype *restrict from = in;                                               \
        int32_t part[PART];                                                                        \
        for (; n > 0; n -= PART, to += PART, from += PART) {                                       \
            int64_t count = n < PART ? n : PART, i = 0;                                            \
            int32_t *block = sizeof *to == sizeof *block ? (void *)to : part;                      \
            LIMIT_LANES(from_dtype, least, most);                                                  \
            for (; i < count; i++)                                                                 \
                block[i] = limited((double)from[i], least, most);                                  \
            for (i = 0; i < count && sizeof *to < sizeof *block; i++)                              \
                to[i] = (TYPE_##to_dtype)part[i];                                                  \
        }                                                                                          \
    }
#define LOAD_F32(x) load_f32((const char *)(x))
#define LOAD_F64(x) load_f64((const char *)(x))
LIMITED(LIMIT)

/* AVX2 cannot convert to uint32_t: x - 2^31 is converted to int32_t, then the top bit is flipped. */
INLINE uint32_t limited_u32(double x)
{
    x = x < 0.0 ? 0.0 : x;
    x = x > UINT32_MAX ? UINT32_MAX : x;
    return (uint32_t)(int32_t)(__builtin_trunc(x == x ? x : 0.0) - 0x1p31) ^ 0x80000000u;
}
LOOP(U32, F32, limited_u32((double)from[i]))
LOOP(U32, F64, limited_u32(from[i]))

/* Tests the range with a branch instead of clamping every number, because nearly all numbers are in range. */
INLINE int64_t limited_i64(double x)
{
    if (__builtin_expect(x < 0x1p63 && x > -0x1p63, 1))
        return (int64_t)x;
    return x > 0.0 ? INT64_MAX : x < 0.0 ? INT64_MIN : 0;
}
LOOP(I64, F32, limited_i64((double)from[i]))
LOOP(I64, F64, limited_i64(from[i]))

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
/* The last elements, fewer than a vector holds, are converted in vectors on the stack. */
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
    .run = {
#define RUN(to, from) [COLLET_##to][COLLET_##from] = to##_##from,
#define RUN_LIMITED(to, from, least, most) RUN(to, from)
        CASTS(RUN) TRUTHS(RUN) LIMITED(RUN_LIMITED) RUN(U32, F32) RUN(U32, F64) RUN(I64, F32)
            RUN(I64, F64)[COLLET_F32][COLLET_BF16] = f32_bf16,
        [COLLET_BF16][COLLET_F32] = bf16_f32,
#if defined(__F16C__)
        [COLLET_F32][COLLET_F16] = f32_f16,
        [COLLET_F16][COLLET_F32] = f16_f32,
#endif
    }};
