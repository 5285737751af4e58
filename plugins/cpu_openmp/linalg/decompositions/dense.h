/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dense.h - the matrices of decompositions: views of f32, f64, c64 or c128, and copies between views by all
 * threads.
 */
#ifndef PLUGINS_CPU_OPENMP_LINALG_DECOMPOSITIONS_DENSE_H
#define PLUGINS_CPU_OPENMP_LINALG_DECOMPOSITIONS_DENSE_H

#include "cpu_openmp/runtime/device.h"

/* rows x columns elements; `row` and `column` are the strides in bytes. */
typedef struct dense_view {
    char *at;
    int64_t rows, columns;
    int64_t row, column;
    collet_dtype dtype;
} dense_view;

/* Matrix `index`, in C order of the batch axes, of an operand "...,M,N". */
dense_view dense_of(const collet_operand *o, int64_t index);

/* A view of adjacent elements, in rows without gaps. */
dense_view dense_at(void *at, collet_dtype dtype, int64_t rows, int64_t columns);

/* The view of the transpose. */
dense_view dense_transposed(dense_view v);

/* The leading dimension, in elements, if BLAS supports the view: rows of adjacent elements that do not
 * overlap, and all counts fit an int. Else 0. */
int dense_stride(const dense_view *v);

/* Like dense_of, for an output that BLAS or LAPACK may write; `at` is NULL where they do not
 * support the view. */
dense_view dense_output(const collet_operand *o, int64_t index);

/* Copies `in` to `out` on at most `threads` threads; both have one shape and dtype and do not overlap. */
void dense_copy(const collet_device *device, int32_t threads, const dense_view *out,
                const dense_view *in);

/*
 * The same, into rows or columns of adjacent elements; returns the largest magnitude, or NaN when an element is not
 * finite. With `lower` only the lower triangle is read; the elements above it become zero.
 */
double dense_load(const collet_device *device, int32_t threads, const dense_view *out,
                  const dense_view *in, int lower);

/* The number of reals that an element has. */
int64_t dense_parts(const dense_view *v);

/* Changes the sign of row `row` from column `first` on. */
void dense_negate(const collet_device *device, const dense_view *v, int64_t row, int64_t first);

/* Sets the elements below (above: right of) the diagonal to zero. */
void dense_clear_below(const dense_view *v);
void dense_clear_above(const dense_view *v);

#endif
