/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - one matrix of a file as rows of numbers, codes or packed weights. */
#ifndef ENGINES_TERNARY_SOURCE_H
#define ENGINES_TERNARY_SOURCE_H

#include "ternary/call.h"
#include "ternary/file.h"

#define TERNARY_BLOCK_WEIGHTS 256 /* weights with a scale in tq2_0 and tq1_0 */

typedef struct ternary_source {
    const collet_ternary_file *file;
    char *text;       /* begins messages: the path, "FILE:TENSOR" or "PATH: layer N" */
    uint32_t content; /* COLLET_TERNARY_NUMBERS, _CODES or _PACKED */
    uint32_t format;  /* of PACKED */
    int64_t rows, columns, row_bytes;
    collet_dtype dtype;                /* of NUMBERS and CODES */
    const ternary_gguf_tensor *tensor; /* NULL: not of a GGUF file */
    uint8_t *bytes;                    /* rows x row_bytes in the mapping; NULL: an .npy file */
    /* Scales of PACKED: of each block of a tensor; of each row of a layer, where scales in blocks
     * of tq2_0 and tq1_0 are ignored; without both 1. */
    int has_blocks;
    float *scale;
} ternary_source;

/* Matrix `index` of the file, which must stay open until the source is closed. NOT_FOUND; SHAPE,
 * DTYPE and UNSUPPORTED where it cannot be read as weights. */
collet_status ternary_source_open(const collet_ternary_file *file, int64_t index,
                                  ternary_source *out, collet_error *err);
/* Also for a zeroed one. */
void ternary_source_close(ternary_source *source);

/* Compares a layer of a .t2 file with its checksum: FORMAT, CANCELLED. OK for other files. */
collet_status ternary_verify(ternary_call *call, const collet_ternary_file *file, int64_t index);

/* How many rows from `first` on to convert at a time: about a million weights, at least a row. */
int64_t ternary_source_some(const ternary_source *source, int64_t first);

/* The following functions take rows first .. first + count and release the file's pages of them. */

/* Copies rows of NUMBERS or CODES to `out`, native bytes in C order. */
void ternary_source_rows(const ternary_source *source, int64_t first, int64_t count, void *out);

/*
 * The codes (count x columns) of rows of CODES or PACKED; where blocks have scales and
 * `block_scale` is not NULL, those (count x columns / TERNARY_BLOCK_WEIGHTS). *invalid: how many
 * weights of PACKED have an invalid code, which became 0; with `invalid` NULL these are INVALID,
 * and the text has the first row with one.
 */
collet_status ternary_source_codes(ternary_call *call, const ternary_source *source, int64_t first,
                                   int64_t count, int8_t *codes, float *block_scale,
                                   int32_t *invalid);

/* values (count x columns) = codes of rows of PACKED times their scales. */
void ternary_source_values(const ternary_source *source, int64_t first, int64_t count,
                           const int8_t *codes, const float *block_scale, float *values);

/* INVALID with row and column of the first of count x columns elements that is no code (I8) or not
 * finite (other dtypes); there is one. */
collet_status ternary_report_element(const ternary_source *source, collet_dtype dtype,
                                     int64_t first, int64_t count, const void *elements,
                                     collet_error *err);

/* Element `index` of native elements: F16, F32, F64, BF16 or integers. */
double ternary_number(collet_dtype dtype, const void *elements, int64_t index);

/* "t2" of COLLET_TERNARY_T2. */
const char *ternary_format_name(uint32_t format);

#endif
