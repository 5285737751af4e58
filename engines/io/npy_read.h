/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy_read.h - reads NumPy's .npy files (versions 1.0 to 3.0), mapped, a few rows at a time.
 *
 * f2, f4, f8, i1, u1, i4 and i8 of either byte order, C order with any number of axes and Fortran
 * order with up to two. Trailing and missing bytes are errors.
 */
#ifndef ENGINES_IO_NPY_READ_H
#define ENGINES_IO_NPY_READ_H

#include "mapping.h"

typedef struct io_npy {
    io_mapping *mapping;
    collet_dtype dtype;
    int32_t ndim; /* 0..COLLET_MAX_DIMS */
    int64_t shape[COLLET_MAX_DIMS];
    int64_t rows; /* shape[0]; of ndim 0 it is 1 */
    int64_t row_elements;
    uint64_t offset; /* of the first element in the file */
    int32_t fortran; /* elements of a column are adjacent */
    int32_t swapped; /* byte order is not the machine's */
} io_npy;

/* Whether these bytes begin like an .npy file. */
int io_npy_recognise(const uint8_t *bytes, uint64_t size);

/* COLLET_IO, NO_MEMORY, FORMAT (not an .npy file, or malformed), UNSUPPORTED (a dtype or an order
 * that is not read), OVERFLOW (more elements than 64 bits count). The text names the file. */
collet_status io_npy_open(const char *path, io_npy *out, collet_error *err);
/* Also for a zeroed one. */
void io_npy_close(io_npy *npy);

/* Copies rows first .. first + count, which exist, to `out` in C order and native bytes. */
void io_npy_rows(const io_npy *npy, int64_t first, int64_t count, void *out);

/* These rows will not be read again soon: drops them from resident memory. In Fortran order, where
 * rows are interleaved, drops everything. */
void io_npy_passed(const io_npy *npy, int64_t first, int64_t count);

#endif
