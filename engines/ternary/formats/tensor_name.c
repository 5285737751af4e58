/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_weights.c, tests/fuzz/fuzz_gguf.c */
#include "tensor_name.h"

#include "io/utf8.h"

#include <string.h>

const char *ternary_tensor_name(const char *name, uint64_t length, char text[TERNARY_TENSOR_NAME])
{
    static const char digits[] = "0123456789abcdef";
    size_t done = 0, n;

    for (uint64_t at = 0; at<length; at += n> 0 ? n : 1) {
        char escaped[4] = {'\\', 'x', digits[(uint8_t)name[at] >> 4], digits[name[at] & 15]};
        uint64_t left = length - at;

        n = io_utf8_character(name + at, left < 4 ? (size_t)left : 4);
        if (done + (n > 0 ? n : sizeof escaped) >= TERNARY_TENSOR_NAME)
            break;
        memcpy(text + done, n > 0 ? name + at : escaped, n > 0 ? n : sizeof escaped);
        done += n > 0 ? n : sizeof escaped;
    }
    text[done] = '\0';
    return text;
}
