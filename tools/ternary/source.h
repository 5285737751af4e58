/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - weights as they are named on the command line: an .npy file or a tensor of a GGUF
 * file. */
#ifndef TERNARY_SOURCE_H
#define TERNARY_SOURCE_H

#include "ternary/formats/gguf.h"
#include "io/npy_read.h"
#include "packed.h"

/* What the rows hold: floating numbers, codes, or packed weights with a scale for each block. */
enum { TERNARY_FLOATS, TERNARY_CODES, TERNARY_BLOCKS };

typedef struct ternary_source {
    const char *text; /* what was named, lent */
    int kind;
    int64_t rows, columns;
    collet_dtype dtype;    /* of FLOATS and CODES */
    ternary_packed packed; /* of BLOCKS */
    collet_npy npy;        /* one of these two is open */
    collet_gguf gguf;
    const collet_gguf_tensor *tensor;
} ternary_source;

/* What a file begins like; OTHER, with the status of collet_mapping_open, where it cannot be read.
 */
enum { TERNARY_FILE_OTHER, TERNARY_FILE_NPY, TERNARY_FILE_GGUF, TERNARY_FILE_T2 };
collet_status ternary_file_kind(const char *path, int *kind, collet_error *err);

/*
 * Splits "FILE:TENSOR" where no file has the whole as its name. *path is freed by the caller;
 * *tensor is what follows the colon, or NULL. COLLET_NO_MEMORY.
 */
collet_status ternary_source_split(const char *text, char **path, const char **tensor,
                                   collet_error *err);

/* `text` is lent until ternary_source_close. The text of an error names the file. UNSUPPORTED: no
 * weights. */
collet_status ternary_source_open(const char *text, ternary_source *out, collet_error *err);
/* Of a zeroed one too. */
void ternary_source_close(ternary_source *source);

/* Of the file, lent. */
const char *ternary_source_path(const ternary_source *source);

/* Copies rows first .. first + count of FLOATS or CODES to `out`, native bytes in C order. Their
 * pages stop counting as memory of this process. */
void ternary_source_rows(const ternary_source *source, int64_t first, int64_t count, void *out);

/* INVALID with row and column of the first of count x columns numbers that is not finite (FLOATS),
 * or no code (CODES); there is one. `rows` is what ternary_source_rows gave. */
collet_status ternary_source_complain(const ternary_source *source, int64_t first, int64_t count,
                                      const void *rows, collet_error *err);

/* All of an .npy file of `count` floating numbers on one axis, or of one that is repeated where
 * `one_for_all`. `what` names them in messages. */
collet_status ternary_read_floats(const char *path, const char *what, int64_t count,
                                  int one_for_all, float *out, collet_error *err);

/* The value of element `index` of native elements; COLLET_F16, F32, F64, BF16, integers. */
double ternary_number(collet_dtype dtype, const void *elements, int64_t index);

#endif
