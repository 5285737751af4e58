/* SPDX-License-Identifier: Apache-2.0 */
/* npy.h - the dtypes of NumPy's .npy files, and their header ("head"), version 1.0. */
#pragma once

#include <collet/collet.h>

typedef struct io_npy_type {
    collet_dtype dtype;
    char text[3]; /* the dtype's name in a head, after the byte order */
} io_npy_type;

#define IO_NPY_TYPES 7
extern const io_npy_type io_npy_types[IO_NPY_TYPES];

/* The character for the machine's byte order in a head. */
#define IO_NPY_ORDER (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>')

#define IO_NPY_HEAD 512 /* bytes; no head is longer */

/* Writes the head of a C-ordered array with `rows` rows of shape[0..ndim) into `head` and returns
 * its length, a multiple of 64. The length depends on dtype, ndim and shape only, so it can be
 * reserved before the number of rows is known. rows < 0: the array has only the axes of `shape`.
 * Returns 0 for a dtype that is not in io_npy_types, or ndim > COLLET_MAX_DIMS. */
size_t io_npy_head(char head[IO_NPY_HEAD], collet_dtype dtype, int64_t rows, int32_t ndim,
                   const int64_t *shape);

/* Writes the head of an array of n texts of `width` characters, 32 bits each; unused characters are 0. */
size_t io_npy_text_head(char head[IO_NPY_HEAD], int64_t width, int64_t n);
