/* SPDX-License-Identifier: Apache-2.0 */
/* npy.h - the head of NumPy's .npy files (version 1.0). */
#ifndef COLLET_IO_NPY_H
#define COLLET_IO_NPY_H

#include <collet/collet.h>

#define COLLET_NPY_HEAD 512 /* more than any head has */

/*
 * Writes the head of a C-ordered array with `rows` rows of shape[0..ndim) into `head` and returns
 * its length, a multiple of 64. The length depends on dtype, ndim and shape only, so it can be
 * reserved before the number of rows is known. rows < 0: the array has the axes of `shape` alone.
 * Returns 0 for a dtype that is not F64, F32, I64, I32, U8 or I8, or ndim > COLLET_MAX_DIMS.
 */
size_t collet_npy_head(char head[COLLET_NPY_HEAD], collet_dtype dtype, int64_t rows, int32_t ndim,
                       const int64_t *shape);

#endif
