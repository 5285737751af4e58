/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - one matrix of a file as rows of numbers, codes or packed weights. */
#ifndef COLLET_ENGINES_TERNARY_SOURCE_H
#define COLLET_ENGINES_TERNARY_SOURCE_H

#include "ternary/file.h"
#include "ternary/packed.h"

typedef struct ternary_source {
    const collet_ternary_file *file;
    char *text;       /* begins messages: the path, or "FILE:TENSOR" */
    uint32_t content; /* COLLET_TERNARY_NUMBERS, _CODES or _PACKED */
    int64_t rows, columns;
    collet_dtype dtype;               /* of NUMBERS and CODES */
    ternary_packed packed;            /* of PACKED */
    const collet_gguf_tensor *tensor; /* NULL: not of a GGUF file */
} ternary_source;

/* Matrix `index` of the file, which stays open longer. NOT_FOUND; SHAPE, DTYPE and UNSUPPORTED
 * where it cannot be read as weights. */
collet_status ternary_source_open(const collet_ternary_file *file, int64_t index,
                                  ternary_source *out, collet_error *err);
/* Of a zeroed one too. */
void ternary_source_close(ternary_source *source);

int64_t ternary_source_row_bytes(const ternary_source *source);

/* Compares a layer of a .t2 file with its checksum: FORMAT, CANCELLED. */
collet_status ternary_verify(ternary_call *call, const collet_t2_file *file, int64_t index);

/* What loading a layer reports as its work. */
int64_t ternary_layer_work(const collet_t2_file *file, uint32_t index);

/* Copies rows first .. first + count of NUMBERS or CODES to `out`, native bytes in C order, and
 * lets go of their pages. */
void ternary_source_rows(const ternary_source *source, int64_t first, int64_t count, void *out);

/* INVALID with row and column of the first of count x columns elements that is not finite
 * (NUMBERS) or no code (CODES); there is one. `rows` is what ternary_source_rows gave. */
collet_status ternary_source_complain(const ternary_source *source, int64_t first, int64_t count,
                                      const void *rows, collet_error *err);

/* Reads an .npy file of `count` floating-point numbers on one axis, or of one that is repeated
 * where `one_for_all`. `what` names them in messages. */
collet_status ternary_read_floats(const char *path, const char *what, int64_t count,
                                  int one_for_all, float *out, collet_error *err);

/* Element `index` of native elements: F16, F32, F64, BF16 or integers. */
double ternary_number(collet_dtype dtype, const void *elements, int64_t index);

#endif
