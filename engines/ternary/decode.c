/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_q2_0.c, tests/engines/test_ternary_safetensors.c */
#include "ternary/decode.h"

#define SCALE_BYTES 2

int64_t ternary_decode_bytes(int64_t weights)
{
    return SCALE_BYTES + weights / 4;
}

void ternary_decode_q2_0(const uint8_t *bytes, int64_t blocks, int64_t weights, int8_t *codes)
{
    for (int64_t b = 0; b < blocks; b++, bytes += ternary_decode_bytes(weights))
        for (int64_t i = 0; i < weights / 4; i++, codes += 4)
            for (int k = 0; k < 4; k++)
                codes[k] = (int8_t)((bytes[SCALE_BYTES + i] >> 2 * k & 3) - 1);
}

void ternary_decode_bitnet(const uint8_t *bytes, int64_t quarter, int64_t columns, int64_t first,
                           int64_t count, int8_t *codes)
{
    for (int64_t r = first; r < first + count; r++, codes += columns) {
        const uint8_t *row = bytes + r % quarter * columns;
        int shift = (int)(2 * (r / quarter));
        for (int64_t c = 0; c < columns; c++)
            codes[c] = (int8_t)((row[c] >> shift & 3) - 1);
    }
}
