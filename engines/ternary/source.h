/* SPDX-License-Identifier: Apache-2.0 */
/* source.h - reads one matrix of a file as rows of numbers, codes or packed weights. */
#pragma once

#include "ternary/call.h"
#include "ternary/file.h"
#include "ternary/formats/number.h"

typedef struct ternary_source {
    const collet_ternary_file *file;
    char *text;       /* begins messages: the path, "FILE:TENSOR" or "PATH: layer N" */
    uint32_t content; /* COLLET_TERNARY_NUMBERS, _CODES or _PACKED */
    uint32_t format;  /* format of PACKED */
    int64_t rows, columns, row_bytes;
    collet_dtype dtype; /* dtype of NUMBERS and CODES */
    char
        name[TERNARY_TENSOR_NAME]; /* name of a tensor, as ternary_tensor_name gives it; "": none */
    uint8_t *bytes;                /* rows x row_bytes in the mapping; NULL: an .npy file */
    /* Scales of PACKED. has_blocks: a tensor with one scale for each `block` weights of a row. `scale`: one scale for
     * each row; in this case the scales in blocks of a layer's tq2_0 and tq1_0 are ignored. Without has_blocks and
     * `scale`, all scales are 1. */
    int has_blocks;
    int64_t block;
    float *scale;
    /* Scale and bias of a BitNet tensor, one number per row each; freed with the source. NULL for other tensors.
     * `scale` is then own_scale. */
    float *own_scale, *own_bias;
} ternary_source;

/* Opens matrix `index` of the file, which must stay open until the source is closed. NOT_FOUND;
 * SHAPE, DTYPE and UNSUPPORTED if the matrix cannot be read as weights. */
collet_status ternary_source_open(const collet_ternary_file *file, int64_t index,
                                  ternary_source *out, collet_error *err);
/* A zeroed struct is allowed. */
void ternary_source_close(ternary_source *source);

/* Checks the checksum of a layer of a .t2 file: FORMAT, CANCELLED. OK for other files. */
collet_status ternary_verify(ternary_call *call, const collet_ternary_file *file, int64_t index);

/* Returns the number of rows, from `first` on, to convert at a time: about a million weights, at least
 * 1. */
int64_t ternary_source_some(const ternary_source *source, int64_t first);

/* Returns the number of floats that `block_scale` of the functions below must have for `count` rows. */
size_t ternary_source_scales(const ternary_source *source, int64_t count);

/* The following functions read rows first .. first + count - 1 and then release their pages. */

/* Copies rows of NUMBERS or CODES to `out`, in C order and native byte order. */
void ternary_source_rows(const ternary_source *source, int64_t first, int64_t count, void *out);

/* Reads the codes (count x columns) of rows of CODES or PACKED, and, if blocks have scales and
 * `block_scale` is not NULL, their scales (count x columns / block). Invalid codes
 * of PACKED become 0, and *invalid is their number; the value 2 of Q2_0 counts as invalid. If `invalid` is NULL, an
 * invalid code is an error, INVALID; the text has the first row with an invalid code.
 */
collet_status ternary_source_codes(ternary_call *call, const ternary_source *source, int64_t first,
                                   int64_t count, int8_t *codes, float *block_scale,
                                   int32_t *invalid);

/* Computes values (count x columns): the codes of rows of PACKED times their scales. */
void ternary_source_values(const ternary_source *source, int64_t first, int64_t count,
                           const int8_t *codes, const float *block_scale, float *values);

/* Computes the values of rows of PACKED. Rows may have the value 2, which is not ternary but can be quantized.
 * Uses `codes` and `block_scale` as buffers. */
collet_status ternary_source_numbers(ternary_call *call, const ternary_source *source,
                                     int64_t first, int64_t count, int8_t *codes,
                                     float *block_scale, float *values);

/* Reports the first of the count x columns elements that is not a code (I8) or not finite (other
 * dtypes), with its row and column. There must be such an element. Returns INVALID. */
collet_status ternary_report_element(const ternary_source *source, collet_dtype dtype,
                                     int64_t first, int64_t count, const void *elements,
                                     collet_error *err);

/* Returns the name of a format of .t2 files: "t2" for COLLET_TERNARY_T2. */
const char *ternary_format_name(uint32_t format);
