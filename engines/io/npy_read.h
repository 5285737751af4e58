/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy_read.h - reads NumPy's .npy files (versions 1.0 to 3.0), mapped, a few rows at a time.
 *
 * Supported: f2, f4, f8, i1, u1, i4 and i8 in both byte orders; C order with any number of axes,
 * Fortran order with up to two. Trailing and missing bytes are errors.
 */
#pragma once

#include "mapping.h"

typedef struct io_npy {
    io_mapping *mapping;
    collet_dtype dtype;
    int32_t ndim; /* 0..COLLET_MAX_DIMS */
    int64_t shape[COLLET_MAX_DIMS];
    int64_t rows; /* shape[0]; 1 if ndim is 0 */
    int64_t row_elements;
    uint64_t offset; /* byte of the first element in the file */
    int32_t fortran; /* 1: elements of a column are adjacent */
    int32_t swapped; /* 1: the byte order is not the machine's */
} io_npy;

/* 1 if an .npy file can begin with these bytes. */
int io_npy_recognise(const uint8_t *bytes, uint64_t size);

/* COLLET_IO, NO_MEMORY, FORMAT (not an .npy file, or malformed), UNSUPPORTED (dtype or order),
 * OVERFLOW (more elements than 64 bits can count). The text names the file. */
collet_status io_npy_open(const char *path, io_npy *out, collet_error *err);
/* A zeroed io_npy is allowed. */
void io_npy_close(io_npy *npy);

/* Copies rows first .. first + count, which exist, to `out` in C order and native bytes. */
void io_npy_rows(const io_npy *npy, int64_t first, int64_t count, void *out);

/* Drops rows from resident memory, because they will not be read again soon. In Fortran order, where rows
 * are interleaved, drops everything. */
void io_npy_passed(const io_npy *npy, int64_t first, int64_t count);
