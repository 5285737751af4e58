/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/index/sort.c */
#include "kernel_sort.h"

#include <string.h>

#include "cpu_openmp/util/kernel_level.h"
#include "shared/host/util/counts.h"

#if defined(__AVX2__)
#include <immintrin.h>
#define VECTORS 1
#else
#define VECTORS 0
#endif

#if VECTORS
/* Returns the numbers of 8 lanes, one per byte: first the lanes whose byte in `chosen` is 255, then the
 * others. `bits` is 8 times the number of chosen lanes. */
INLINE uint64_t less_first(uint64_t chosen, int bits)
{
    const uint64_t lanes = 0x0706050403020100u;
    uint64_t others = _pext_u64(lanes, ~chosen) << bits / 2 << bits / 2;
    return _pext_u64(lanes, chosen) | others;
}
#endif

#if defined(__AVX512F__)

#define SPLITS_FEWER_u32 1 /* split_u32 accepts n less than the number of lanes */
#define SPLITS_FEWER_u64 0
typedef __m512i vec;
#define LOAD(at) _mm512_loadu_si512(at)
#define STORE(at, x) _mm512_storeu_si512(at, x)

/* Stores the first n keys of x: the keys less than the pivot from *low on, the others before *high. */
INLINE void split_u32(uint32_t **low, uint32_t **high, vec x, int n, uint32_t pivot)
{
    __mmask16 given = (__mmask16)((1u << n) - 1);
    __mmask16 less = _mm512_mask_cmplt_epu32_mask(given, x, _mm512_set1_epi32((int)pivot));
    int few = __builtin_popcount(less);
    vec first = _mm512_maskz_compress_epi32(less, x);
    if (n == 16)
        STORE(*low, first);
    else
        _mm512_mask_storeu_epi32(*low, (__mmask16)((1u << few) - 1), first);
    *low += few;
    *high -= n - few;
    _mm512_mask_storeu_epi32(*high, (__mmask16)((1u << (n - few)) - 1),
                             _mm512_maskz_compress_epi32((__mmask16)(given & ~less), x));
}

/* The same by one permutation, for n = 8. Between *low and *high there must be room for exactly one vector, or for
 * at least two. */
INLINE void split_u64(uint64_t **low, uint64_t **high, vec x, int n, uint64_t pivot)
{
    __mmask8 less = _mm512_cmplt_epu64_mask(x, _mm512_set1_epi64((long long)pivot));
    int few = __builtin_popcount(less);
    uint64_t order = less_first(_pdep_u64(less, 0x0101010101010101u) * 255, 8 * few);
    vec y = _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(_mm_cvtsi64_si128((long long)order)), x);
    STORE(*low, y);
    STORE(*high - n, y);
    *low += few;
    *high -= n - few;
}

/* Lane i of the result is lane i ^ m. */
INLINE vec swapped_u32(vec x, int m)
{
    const vec lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_permutexvar_epi32(_mm512_xor_si512(lanes, _mm512_set1_epi32(m)), x);
}

INLINE vec swapped_u64(vec x, int m)
{
    const vec lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_permutexvar_epi64(_mm512_xor_si512(lanes, _mm512_set1_epi64(m)), x);
}

#define LESSER_u32(a, b) _mm512_min_epu32(a, b)
#define GREATER_u32(a, b) _mm512_max_epu32(a, b)
/* The min and max instructions for 64 bits take longer than a comparison and a blend. */
#define LESSER_u64(a, b) _mm512_mask_mov_epi64(b, _mm512_cmplt_epu64_mask(a, b), a)
#define GREATER_u64(a, b) _mm512_mask_mov_epi64(a, _mm512_cmplt_epu64_mask(a, b), b)

/* The greater of a and b in the lanes whose index has bit `bit`, the lesser in the other lanes. */
INLINE vec ordered_u32(vec a, vec b, int bit)
{
    const vec lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __mmask16 greater = _mm512_test_epi32_mask(lanes, _mm512_set1_epi32(bit));
    return _mm512_mask_max_epu32(_mm512_min_epu32(a, b), greater, a, b);
}

INLINE vec ordered_u64(vec a, vec b, int bit)
{
    const vec lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    __mmask8 greater = _mm512_test_epi64_mask(lanes, _mm512_set1_epi64(bit));
    return _mm512_mask_mov_epi64(b, (__mmask8)(_mm512_cmplt_epu64_mask(a, b) ^ greater), a);
}

#elif defined(__AVX2__)

#define SPLITS_FEWER_u32 0
#define SPLITS_FEWER_u64 0
typedef __m256i vec;
#define LOAD(at) _mm256_loadu_si256((const vec *)(const void *)(at))
#define STORE(at, x) _mm256_storeu_si256((vec *)(void *)(at), x)

INLINE vec lanes_u32(void)
{
    return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

/* Unsigned. */
INLINE vec is_less_u32(vec a, vec b)
{
    const vec top = _mm256_set1_epi32((int)0x80000000u);
    return _mm256_cmpgt_epi32(_mm256_xor_si256(b, top), _mm256_xor_si256(a, top));
}

INLINE vec is_less_u64(vec a, vec b)
{
    const vec top = _mm256_set1_epi64x((long long)0x8000000000000000u);
    return _mm256_cmpgt_epi64(_mm256_xor_si256(b, top), _mm256_xor_si256(a, top));
}

INLINE vec in_order(vec x, uint64_t order)
{
    return _mm256_permutevar8x32_epi32(x,
                                       _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)order)));
}

/* Stores the n = 8 keys of x: the keys less than the pivot from *low on, the others before *high. Between *low
 * and *high there must be room for exactly one vector, or for at least two. */
INLINE void split_u32(uint32_t **low, uint32_t **high, vec x, int n, uint32_t pivot)
{
    vec less = is_less_u32(x, _mm256_set1_epi32((int)pivot));
    uint32_t mask = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(less));
    int few = __builtin_popcount(mask);
    vec y = in_order(x, less_first(_pdep_u64(mask, 0x0101010101010101u) * 255, 8 * few));
    STORE(*low, y);
    STORE(*high - n, y);
    *low += few;
    *high -= n - few;
}

INLINE void split_u64(uint64_t **low, uint64_t **high, vec x, int n, uint64_t pivot)
{
    vec less = is_less_u64(x, _mm256_set1_epi64x((long long)pivot));
    uint32_t mask = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(less));
    int few = __builtin_popcount(mask);
    vec y = in_order(x, less_first(_pdep_u64(mask, 0x0001000100010001u) * 65535, 16 * few));
    STORE(*low, y);
    STORE(*high - n, y);
    *low += few;
    *high -= n - few;
}

INLINE vec swapped_u32(vec x, int m)
{
    return _mm256_permutevar8x32_epi32(x, _mm256_xor_si256(lanes_u32(), _mm256_set1_epi32(m)));
}

INLINE vec swapped_u64(vec x, int m)
{
    return swapped_u32(x, 2 * m);
}

INLINE vec chosen_u64(vec a, vec b, vec which)
{
    return _mm256_blendv_epi8(a, b, which);
}

#define LESSER_u32(a, b) _mm256_min_epu32(a, b)
#define GREATER_u32(a, b) _mm256_max_epu32(a, b)
#define LESSER_u64(a, b) chosen_u64(b, a, is_less_u64(a, b))
#define GREATER_u64(a, b) chosen_u64(a, b, is_less_u64(a, b))

INLINE vec ordered_u32(vec a, vec b, int bit)
{
    vec bits = _mm256_set1_epi32(bit), greater = _mm256_and_si256(lanes_u32(), bits);
    return _mm256_blendv_epi8(LESSER_u32(a, b), GREATER_u32(a, b),
                              _mm256_cmpeq_epi32(greater, bits));
}

INLINE vec ordered_u64(vec a, vec b, int bit)
{
    vec bits = _mm256_set1_epi32(2 * bit), greater = _mm256_and_si256(lanes_u32(), bits);
    vec first = _mm256_xor_si256(is_less_u64(a, b), _mm256_cmpeq_epi32(greater, bits));
    return chosen_u64(b, a, first);
}

#endif

#define WORD uint32_t
#define LETTERS u32
#include "kernel_sort.inc"

#define WORD uint64_t
#define LETTERS u64
#include "kernel_sort.inc"

extern const sort_kernels LEVEL_NAME(sort);
const sort_kernels LEVEL_NAME(sort) = {
    .width = {{read_u32, write_u32, sort_u32, divide_u32, select_u32},
              {read_u64, write_u64, sort_u64, divide_u64, select_u64}},
};
