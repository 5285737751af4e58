/* SPDX-License-Identifier: Apache-2.0 */
/* decode.h - codes of the formats that only files of other programs have. Two bits are a code + 1, so the codes are
 * -1, 0, 1 and 2. */
#pragma once

#include <stdint.h>

/* Returns the bytes of a block of Q2_0: a scale in f16, then 2 bits a weight, the first weight in the lowest bits. */
int64_t ternary_decode_bytes(int64_t weights);

/* Stores the codes of adjacent blocks of Q2_0 with `weights` weights each (a multiple of 4). */
void ternary_decode_q2_0(const uint8_t *bytes, int64_t blocks, int64_t weights, int8_t *codes);

/* Stores the codes of rows first .. first + count - 1 of a BitNet matrix of 4 x `quarter` rows: byte row r has the
 * codes of row r + i quarter in its bits 2i. */
void ternary_decode_bitnet(const uint8_t *bytes, int64_t quarter, int64_t columns, int64_t first,
                           int64_t count, int8_t *codes);
