/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_ternary_q2_0.c */
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
