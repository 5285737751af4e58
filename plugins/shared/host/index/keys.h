/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.h - maps elements to unsigned integers (keys) that have the same order, for kernels that sort and
 * search.
 *
 * A key has as many bits as its element, in the low bits of a u64. Every NaN has the greatest key.
 * The key of -0 is one less than the key of +0, or equal to it if zeros are to be equal. The functions are pure.
 */
#pragma once

#include "shared/host/util/operand.h"

typedef struct index_order {
    uint64_t bias;     /* the sign bit, which is inverted in keys; 0 for unsigned types */
    uint64_t negated;  /* the bits that are inverted in keys of negative elements */
    uint64_t greatest; /* the key of NaN */
    uint64_t infinity; /* the bits of infinity; all bits for types without NaN */
    uint64_t zero;     /* the bits of -0 if -0 and +0 have the same key; else 0 */
    uint64_t flip;     /* descending order: the bits that invert a key; else 0 */
    int32_t sign;      /* the index of the highest bit of an element */
    int32_t boolean;   /* 1: bool, whose nonzero elements are all equal */
} index_order;

#define INDEX_SIGNED_UINT 0
#define INDEX_SIGNED_BOOL 0
#define INDEX_SIGNED_INT 1
#define INDEX_SIGNED_FLOAT 1
#define INDEX_SIGNED_BFLOAT 1

static inline index_order index_order_of(collet_dtype dtype, int descending, int zeros)
{
    int32_t bits = 8 * (int32_t)cpu_dtype_size(dtype);
    uint64_t all = ~(uint64_t)0 >> (64 - bits), top = (uint64_t)1 << (bits - 1);
    uint64_t infinity = dtype == COLLET_F64    ? 0x7ff0000000000000u
                        : dtype == COLLET_F32  ? 0x7f800000u
                        : dtype == COLLET_BF16 ? 0x7f80u
                        : dtype == COLLET_F16  ? 0x7c00u
                                               : 0;
    index_order o = {.greatest = all,
                     .infinity = infinity ? infinity : ~(uint64_t)0,
                     .zero = infinity && zeros ? top : 0,
                     .flip = descending ? all : 0,
                     .sign = bits - 1,
                     .boolean = dtype == COLLET_BOOL};
    switch (dtype) {
#define CASE(NAME, id, bytes, text, letter, type, kind, ...)                                       \
    case COLLET_##NAME:                                                                            \
        o.bias = INDEX_SIGNED_##kind * top;                                                        \
        break;
        COLLET_REAL_LIST(CASE)
#undef CASE
    default:
        break;
    }
    o.negated = infinity ? all : o.bias;
    return o;
}

#define WORD uint32_t
#define NAME(name) name##_u32
#include "key.inc"

#define WORD uint64_t
#define NAME(name) name##_u64
#include "key.inc"

/* The bits of an element of 1, 2, 4 or 8 bytes, and the element with these bits. */
static inline uint64_t index_load(const char *at, uint64_t size)
{
    const void *p = at;
    return size == 8   ? *(const uint64_t *)p
           : size == 4 ? *(const uint32_t *)p
           : size == 2 ? *(const uint16_t *)p
                       : *(const uint8_t *)p;
}

static inline void index_store(char *at, uint64_t size, uint64_t bits)
{
    void *p = at;
    if (size == 8)
        *(uint64_t *)p = bits;
    else if (size == 4)
        *(uint32_t *)p = (uint32_t)bits;
    else if (size == 2)
        *(uint16_t *)p = (uint16_t)bits;
    else
        *(uint8_t *)p = (uint8_t)bits;
}

/* A mask of bits: an element is true if one of these bits is set. The sign bits of floating-point
 * numbers are not among them, because -0 is false. */
static inline uint64_t index_bits_that_count(collet_dtype dtype)
{
    switch (dtype) {
    case COLLET_F16:
    case COLLET_BF16:
        return 0x7fff;
    case COLLET_F32:
        return 0x7fffffff;
    case COLLET_F64:
    case COLLET_C128:
        return 0x7fffffffffffffff;
    case COLLET_C64:
        return 0x7fffffff7fffffff;
    default:
        return ~(uint64_t)0;
    }
}

/* The axis that a parameter names. */
static inline int32_t index_axis(const collet_operand *o, int32_t axis)
{
    return axis < 0 ? axis + o->ndim : axis;
}
