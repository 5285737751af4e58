/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the tests of the ternary family: arrays from values, values from arrays. */
#ifndef TESTS_COMMON_TERNARY_SUPPORT_H
#define TESTS_COMMON_TERNARY_SUPPORT_H

#include "support.h"

#define SHAPE(...)                                                                                 \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static inline collet_array *array_of(collet_context *context, collet_dtype dtype, int32_t ndim,
                                     const int64_t *shape, const void *values)
{
    collet_array *a = NULL;
    assert_ok(context, collet_array_from(context, &a, dtype, ndim, shape, values));
    return a;
}

static inline collet_array *array_for(collet_context *context, collet_dtype dtype, int32_t ndim,
                                      const int64_t *shape)
{
    collet_array *a = NULL;
    assert_ok(context, collet_array_create(context, &a, dtype, ndim, shape));
    return a;
}

static inline int32_t number_in(collet_context *context, const collet_array *info)
{
    int32_t value = -1;
    assert_ok(context, collet_array_read(context, info, &value, sizeof value));
    return value;
}

static inline void assert_bytes(collet_context *context, const collet_array *a,
                                const void *expected)
{
    size_t size = (size_t)collet_array_size(a) * collet_dtype_size(collet_array_dtype(a));
    unsigned char *got = malloc(size + 1);
    assert_non_null(got);
    assert_ok(context, collet_array_read(context, a, got, size));
    assert_memory_equal(got, expected, size);
    free(got);
}

/* Deterministic pseudorandom numbers. */
static inline uint32_t next_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Random codes of the shape (rows, columns), each of -1, 0 and 1 equally likely. */
static inline collet_array *random_codes(collet_context *context, int64_t rows, int64_t columns,
                                         uint32_t seed)
{
    int8_t *values = malloc((size_t)(rows * columns) + 1);
    assert_non_null(values);
    for (int64_t i = 0; i < rows * columns; i++)
        values[i] = (int8_t)(next_number(&seed) % 3) - 1;
    collet_array *a = array_of(context, COLLET_I8, 2, SHAPE(rows, columns), values);
    free(values);
    return a;
}

/* Random f32 in [-2, 2) of the shape (rows, columns), or (columns) if rows is 0. */
static inline collet_array *random_floats(collet_context *context, int64_t rows, int64_t columns,
                                          uint32_t seed)
{
    int64_t count = (rows ? rows : 1) * columns;
    float *values = malloc((size_t)count * sizeof *values + 1);
    assert_non_null(values);
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)next_number(&seed) * 0x1p-22f - 2.0f;
    const int64_t shape[] = {rows, columns};
    collet_array *a = array_of(context, COLLET_F32, rows ? 2 : 1, shape + !rows, values);
    free(values);
    return a;
}

#endif
