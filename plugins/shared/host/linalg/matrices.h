/* SPDX-License-Identifier: Apache-2.0 */
/* matrices.h - the matrices of a call whose operands are "...,M,N" and similar: copies between the
 * caller's strides and dense rows of numbers, one matrix at a time. For every backend that works on
 * host memory. */
#pragma once

#include <math.h>

#include "shared/host/util/rows.h"

/* The number of matrices in an operand with `axes` matrix axes. */
static inline int64_t cpu_matrix_count(const collet_operand *o, int32_t axes)
{
    int64_t count = 1;
    for (int32_t i = 0; i < o->ndim - axes; i++)
        count *= o->shape[i];
    return count;
}

/* The first element of matrix `index`, in C order, of an operand with `axes` matrix axes. */
static inline char *cpu_matrix_at(const collet_operand *o, int32_t axes, int64_t index)
{
    char *at = cpu_at(o);
    for (int32_t i = o->ndim - axes - 1; i >= 0; i--) {
        at += index % o->shape[i] * cpu_step(o, i);
        index /= o->shape[i];
    }
    return at;
}

/* Copies matrix `index` to dense rows of `dtype`, f64 or c128. */
static inline void cpu_matrix_load(const collet_operand *o, int64_t index, void *dense,
                                   collet_dtype dtype)
{
    int64_t size = (int64_t)cpu_dtype_size(dtype);
    int64_t rows = operand_extent(o, 1), columns = operand_extent(o, 0);
    const char *at = cpu_matrix_at(o, 2, index);
    for (int64_t i = 0; i < rows; i++)
        cpu_convert((char *)dense + i * columns * size, dtype, size,
                    at + i * cpu_step(o, o->ndim - 2), o->dtype, cpu_step(o, o->ndim - 1), columns);
}

/* Copies the transpose of matrix `index` to dense rows of `dtype`. */
static inline void cpu_matrix_load_transposed(const collet_operand *o, int64_t index, void *dense,
                                              collet_dtype dtype)
{
    int64_t size = (int64_t)cpu_dtype_size(dtype);
    int64_t rows = operand_extent(o, 1), columns = operand_extent(o, 0);
    const char *at = cpu_matrix_at(o, 2, index);
    for (int64_t j = 0; j < columns; j++)
        cpu_convert((char *)dense + j * rows * size, dtype, size, at + j * cpu_step(o, o->ndim - 1),
                    o->dtype, cpu_step(o, o->ndim - 2), rows);
}

/* Stores dense numbers of `dtype` with strides `row` and `column` as matrix `index`; strides of 0
 * repeat one number. */
static inline void cpu_matrix_store(const collet_operand *o, int64_t index, const void *dense,
                                    collet_dtype dtype, int64_t row, int64_t column)
{
    int64_t size = (int64_t)cpu_dtype_size(dtype);
    int64_t rows = operand_extent(o, 1), columns = operand_extent(o, 0);
    char *at = cpu_matrix_at(o, 2, index);
    for (int64_t i = 0; i < rows; i++)
        cpu_convert(at + i * cpu_step(o, o->ndim - 2), o->dtype, cpu_step(o, o->ndim - 1),
                    (const char *)dense + i * row * size, dtype, column * size, columns);
}

/* The same for a vector. */
static inline void cpu_vector_store(const collet_operand *o, int64_t index, const void *dense,
                                    collet_dtype dtype, int64_t step)
{
    cpu_convert(cpu_matrix_at(o, 1, index), o->dtype, cpu_step(o, o->ndim - 1), dense, dtype,
                step * (int64_t)cpu_dtype_size(dtype), operand_extent(o, 0));
}

/* Set all elements to `value`; complex elements to (value, value). */
static inline void cpu_matrix_fill(const collet_operand *o, int64_t index, double value)
{
    const double parts[2] = {value, value};
    cpu_matrix_store(o, index, parts, part_of(o->dtype) == o->dtype ? COLLET_F64 : COLLET_C128, 0,
                     0);
}

static inline void cpu_vector_fill(const collet_operand *o, int64_t index, double value)
{
    const double parts[2] = {value, value};
    cpu_vector_store(o, index, parts, part_of(o->dtype) == o->dtype ? COLLET_F64 : COLLET_C128, 0);
}

/* Element `index` of an i32 output without matrix axes. */
static inline void cpu_info_store(const collet_operand *o, int64_t index, int64_t value)
{
    *(int32_t *)(void *)cpu_matrix_at(o, 0, index) = value < INT32_MAX ? (int32_t)value : INT32_MAX;
}

/* The largest magnitude of n numbers; NaN if a number is not finite. */
static inline double cpu_largest(const double *x, int64_t n)
{
    double largest = 0.0, finite = 0.0;
    for (int64_t i = 0; i < n; i++) {
        double magnitude = fabs(x[i]);
        largest = magnitude > largest ? magnitude : largest;
        finite += magnitude - magnitude; /* stays 0 until a number is not finite; then NaN */
    }
    return finite == 0.0 ? largest : (double)NAN;
}

/* The power of two that scales a positive magnitude to less than 2^top and, if least <= top, to at
 * least 2^(least - 1). 1 if the magnitude is already within these limits. */
static inline double cpu_scale_to(double largest, int least, int top)
{
    int exponent;
    if (largest == 0.0)
        return 1.0;
    (void)frexp(largest, &exponent);
    return exponent > top     ? ldexp(1.0, top - exponent)
           : exponent < least ? ldexp(1.0, least - exponent)
                              : 1.0;
}

static inline void cpu_multiply(double *x, int64_t n, double factor)
{
    for (int64_t i = 0; factor != 1.0 && i < n; i++)
        x[i] *= factor;
}
