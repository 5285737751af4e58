/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npz_read.h - reads the .npz files that io_results writes, a few rows at a time.
 *
 * Several arrays of a file may be read alternately. COLLET_FORMAT, with the path, if the file is
 * incomplete or was not written by io_results. When an array was read to its end, its checksum is
 * verified. One thread at a time.
 */
#pragma once

#include <collet/collet.h>

typedef struct io_npz io_npz;
typedef struct io_npz_array io_npz_array;

/* COLLET_IO; NO_MEMORY; FORMAT if the file is not a zip archive. On an error *out is NULL. */
collet_status io_npz_open(const char *path, io_npz **out, collet_error *err);
/* NULL is allowed. */
void io_npz_close(io_npz *npz);

/* Reads all arrays and compares them with their checksums. */
collet_status io_npz_check(io_npz *npz, collet_error *err);

/* 1 if the file has the id `id`, as io_results_id returned it when the file was written. */
int io_npz_has_id(const io_npz *npz, const char *id);

/* Opens the array `key` of 64-bit floats, which must have n_rows rows of the shape shape[0..ndim).
 * Close it before the file. On an error *out is NULL. */
collet_status io_npz_array_open(io_npz *npz, const char *key, int64_t n_rows, int32_t ndim,
                                const int64_t *shape, io_npz_array **out, collet_error *err);
/* Reads the next n rows; at least n rows must be left. */
collet_status io_npz_array_read(io_npz_array *array, int64_t n, double *rows, collet_error *err);
/* NULL is allowed. */
void io_npz_array_close(io_npz_array *array);

/* Reads an array of one text, whose characters are all below U+0200: byte i of *text is the low 8 bits of
 * character i. The caller frees *text. */
collet_status io_npz_text(io_npz *npz, const char *key, char **text, collet_error *err);
