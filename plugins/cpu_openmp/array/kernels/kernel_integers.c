/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of integers. Results are modulo 2^64.
 * Tests: conformance/array/reduce.c */
#include "kernel_reduce.h"

#include <string.h>

#include "kernel_columns.h"

/* The memory of results has the type double. */
typedef uint64_t __attribute__((may_alias)) word;
typedef int64_t __attribute__((may_alias)) signed_word;

#define WORD word

/* The sum of eight elements fits a PART, except for elements of 64 bits. */
#define NAME(x) x##_sum_i8
#define ELEMENT int8_t
#define PART int16_t
#define LANE uint64_t
#define OF(x) ((int16_t) * (const int8_t *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (uint64_t)(x))
#define NOTHING 0
#include "kernel_fold.inc"

#define NAME(x) x##_sum_u8
#define ELEMENT uint8_t
#define PART uint16_t
#define LANE uint64_t
#define OF(x) ((uint16_t) * (const uint8_t *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (uint64_t)(x))
#define NOTHING 0
#include "kernel_fold.inc"

#define NAME(x) x##_sum_i16
#define ELEMENT int16_t
#define PART int32_t
#define LANE uint64_t
#define OF(x) ((int32_t) * (const int16_t *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (uint64_t)(x))
#define NOTHING 0
#include "kernel_fold.inc"

#define NAME(x) x##_sum_u16
#define ELEMENT uint16_t
#define PART uint32_t
#define LANE uint64_t
#define OF(x) ((uint32_t) * (const uint16_t *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (uint64_t)(x))
#define NOTHING 0
#include "kernel_fold.inc"

#define NAME(x) x##_sum_i32
#define ELEMENT int32_t
#define PART int64_t
#define LANE uint64_t
#define OF(x) ((int64_t) * (const int32_t *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (uint64_t)(x))
#define NOTHING 0
#include "kernel_fold.inc"

#define NAME(x) x##_sum_u32
#define ELEMENT uint32_t
#define PART int64_t
#define LANE uint64_t
#define OF(x) ((uint64_t) * (const uint32_t *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (uint64_t)(x))
#define NOTHING 0
#include "kernel_fold.inc"

#define NAME(x) x##_sum_i64
#define ELEMENT uint64_t
#define PART uint64_t
#define LANE uint64_t
#define OF(x) ((uint64_t) * (const uint64_t *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (uint64_t)(x))
#define NOTHING 0
#include "kernel_fold.inc"

#define SHORT 2048 /* up to this many elements are added in order, without the streams of kernel_fold.inc */

static void run_row_i64(double *result, double *lost, const char *in, int64_t step, int64_t n,
                        const reduce_about *about)
{
    typedef uint64_t words __attribute__((vector_size(VECTOR_BYTES)));
    enum { LANES = VECTOR_BYTES / 8 };
    int64_t i = 0;
    if (step == 8 && n <= SHORT) {
        words even = {0}, odd = {0}, x, y;
        for (; i + 2 * LANES <= n; i += 2 * LANES) {
            memcpy(&x, in + i * step, sizeof x);
            memcpy(&y, in + (i + LANES) * step, sizeof y);
            even += x;
            odd += y;
        }
        even += odd;
        for (int j = 0; j < LANES; j++)
            *(word *)result += even[j];
    }
    run_sum_i64(result, lost, in + i * step, step, n - i, about);
}

#define NAME(x) x##_product
#define ELEMENT uint64_t
#define PART uint64_t
#define LANE uint64_t
#define OF(x) (*(const uint64_t *)(const void *)(x))
#define JOIN_PARTS(a, b) ((a) * (b))
#define JOIN_LANES(a, b) ((a) * (b))
#define JOIN(w, x) ((w) * (x))
#define NOTHING 1
#include "kernel_fold.inc"

/* Returns 0 if the element is 0, else 1. It does not compare, because gcc 12 would add the vector masks of eight
 * comparisons, whose elements are -1 instead of 1. */
INLINE uint8_t one_of_8(uint64_t x)
{
    uint8_t y = (uint8_t)x;
    return (uint8_t)((uint8_t)(y | (uint8_t)(0 - y)) >> 7);
}

INLINE uint16_t one_of_16(uint64_t x)
{
    uint16_t y = (uint16_t)x;
    return (uint16_t)((uint16_t)(y | (uint16_t)(0 - y)) >> 15);
}

INLINE uint32_t one_of_32(uint64_t x)
{
    uint32_t y = (uint32_t)x;
    return (uint32_t)((uint32_t)(y | (uint32_t)(0 - y)) >> 31);
}

INLINE uint64_t one_of_64(uint64_t x)
{
    uint64_t y = (uint64_t)x;
    return (uint64_t)((uint64_t)(y | (uint64_t)(0 - y)) >> 63);
}

#define NAME(x) x##_count_8
#define ELEMENT uint8_t
#define PART uint8_t
#define LANE uint64_t
#define OF(x) one_of_8(*(const uint8_t *)(const void *)(x) & (uint8_t)about->bits)
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (x))
#define NOTHING 0
#include "kernel_fold.inc"

#define NAME(x) x##_count_16
#define ELEMENT uint16_t
#define PART uint16_t
#define LANE uint64_t
#define OF(x) one_of_16(*(const uint16_t *)(const void *)(x) & (uint16_t)about->bits)
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (x))
#define NOTHING 0
#include "kernel_fold.inc"

#define NAME(x) x##_count_32
#define ELEMENT uint32_t
#define PART uint32_t
#define LANE uint64_t
#define OF(x) one_of_32(*(const uint32_t *)(const void *)(x) & (uint32_t)about->bits)
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (x))
#define NOTHING 0
#include "kernel_fold.inc"

#define NAME(x) x##_count_64
#define ELEMENT uint64_t
#define PART uint64_t
#define LANE uint64_t
#define OF(x) one_of_64(*(const uint64_t *)(const void *)(x) & (uint64_t)about->bits)
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (x))
#define NOTHING 0
#include "kernel_fold.inc"

typedef struct pair {
    uint64_t first, second;
} pair;

INLINE uint64_t counts(const char *x, uint64_t bits)
{
    const pair *p = (const void *)x;
    return ((p->first | p->second) & bits) != 0;
}

#define NAME(x) x##_count_pair
#define ELEMENT pair
#define PART uint64_t
#define LANE uint64_t
#define OF(x) counts((x), about->bits)
#define JOIN_PARTS(a, b) ((a) + (b))
#define JOIN_LANES(a, b) ((a) + (b))
#define JOIN(w, x) ((w) + (x))
#define NOTHING 0
#include "kernel_fold.inc"

#undef WORD
#define WORD signed_word
#define LESS(a, b) ((a) < (b) ? (a) : (b))

#define NAME(x) x##_min_8
#define ELEMENT int8_t
#define PART int8_t
#define LANE int8_t
#define OF(x) ((int8_t)(*(const int8_t *)(const void *)(x) ^ (int8_t)about->bits))
#define JOIN_PARTS(a, b) LESS(a, b)
#define JOIN_LANES(a, b) LESS(a, b)
#define JOIN(w, x) LESS(w, (int64_t)(x))
#define NOTHING INT8_MAX
#include "kernel_fold.inc"

#define NAME(x) x##_min_16
#define ELEMENT int16_t
#define PART int16_t
#define LANE int16_t
#define OF(x) ((int16_t)(*(const int16_t *)(const void *)(x) ^ (int16_t)about->bits))
#define JOIN_PARTS(a, b) LESS(a, b)
#define JOIN_LANES(a, b) LESS(a, b)
#define JOIN(w, x) LESS(w, (int64_t)(x))
#define NOTHING INT16_MAX
#include "kernel_fold.inc"

#define NAME(x) x##_min_32
#define ELEMENT int32_t
#define PART int32_t
#define LANE int32_t
#define OF(x) ((int32_t)(*(const int32_t *)(const void *)(x) ^ (int32_t)about->bits))
#define JOIN_PARTS(a, b) LESS(a, b)
#define JOIN_LANES(a, b) LESS(a, b)
#define JOIN(w, x) LESS(w, (int64_t)(x))
#define NOTHING INT32_MAX
#include "kernel_fold.inc"

#define NAME(x) x##_min_64
#define ELEMENT int64_t
#define PART int64_t
#define LANE int64_t
#define OF(x) ((int64_t)(*(const int64_t *)(const void *)(x) ^ (int64_t)about->bits))
#define JOIN_PARTS(a, b) LESS(a, b)
#define JOIN_LANES(a, b) LESS(a, b)
#define JOIN(w, x) LESS(w, (int64_t)(x))
#define NOTHING INT64_MAX
#include "kernel_fold.inc"

extern const integer_kernels LEVEL_NAME(integers);
const integer_kernels LEVEL_NAME(integers) = {
    .sum = {[COLLET_I8] = {run_sum_i8, columns_sum_i8},
            [COLLET_U8] = {run_sum_u8, columns_sum_u8},
            [COLLET_I16] = {run_sum_i16, columns_sum_i16},
            [COLLET_U16] = {run_sum_u16, columns_sum_u16},
            [COLLET_I32] = {run_sum_i32, columns_sum_i32},
            [COLLET_U32] = {run_sum_u32, columns_sum_u32},
            [COLLET_I64] = {run_row_i64, columns_sum_i64},
            [COLLET_U64] = {run_row_i64, columns_sum_i64}},
    .product = {run_product, columns_product},
    .min = {{run_min_8, columns_min_8},
            {run_min_16, columns_min_16},
            {run_min_32, columns_min_32},
            {run_min_64, columns_min_64}},
    .count = {{run_count_8, columns_count_8},
              {run_count_16, columns_count_16},
              {run_count_32, columns_count_32},
              {run_count_64, columns_count_64},
              {run_count_pair, columns_count_pair}},
};
