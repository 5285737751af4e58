/* SPDX-License-Identifier: Apache-2.0 */
/* formats.h - the packed formats of docs/KERNELS.md for the oracles of the ternary family: the
 * position of each weight of a row, one weight at a time. */
#pragma once

#include "kit.h"

#define TERNARY_INVALID 2 /* the value that the invalid two-bit code 11 is read as */

/* Bytes of a row of `weights` weights; the format must support this number. */
int64_t ternary_row_bytes(uint32_t format, int64_t weights);
/* 1 if the format supports rows of `weights` weights. */
bool ternary_has_rows(uint32_t format, int64_t weights);
/* 1 for tq2_0 and tq1_0, whose blocks have a scale. */
bool ternary_has_scale(uint32_t format);
int64_t ternary_block_bytes(uint32_t format); /* bytes of a block with a scale */

/* Weight i of a row of `weights`: -1, 0, 1 or TERNARY_INVALID. */
int ternary_read(uint32_t format, const unsigned char *row, int64_t weights, int64_t i);
/* Sets weight i of a row filled by ternary_clear; at most once for each weight. */
void ternary_write(uint32_t format, unsigned char *row, int64_t weights, int64_t i, int weight);
/* Fills a row with weights 0 and scales whose bits are 0. */
void ternary_clear(uint32_t format, unsigned char *row, int64_t weights);
/* The two bytes of the scale in block `block`. */
unsigned char *ternary_scale(uint32_t format, unsigned char *row, int64_t block);

/* Offset in elements of the row of operand k that corresponds to row r of output 0, with the
 * broadcasting of NumPy. The last `own_k` axes of operand k and the last `own_0` axes of output 0
 * are within a row. */
int64_t ternary_row(const kit_case *c, uint32_t k, int32_t own_k, int32_t own_0, int64_t r);
/* Number of rows of output 0. */
int64_t ternary_rows(const kit_case *c, int32_t own_0);
