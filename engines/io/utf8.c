/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_weights.c, tests/tools/test_ternary_pack.c */
#include "utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the length of a character by its first byte; 0: no character begins with this byte. */
static size_t length_of(uint8_t first)
{
    if (first < 0x80)
        return 1;
    return first >= 0xC2 && first < 0xE0   ? 2
           : first >= 0xE0 && first < 0xF0 ? 3
           : first >= 0xF0 && first < 0xF5 ? 4
                                           : 0;
}

/* Characters that could make a name look like another name: marks of direction, characters without
 * width, and line ends. */
static int is_hidden(uint32_t code)
{
    return code == 0x61C || (code >= 0x200B && code <= 0x200F) ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) ||
           code == 0xFEFF;
}

size_t io_utf8_character(const char *text, size_t size)
{
    uint32_t code;

    return io_utf8_decode(&code, text, size);
}

size_t io_utf8_decode(uint32_t *out, const char *text, size_t size)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = size > 0 ? length_of((uint8_t)text[0]) : 0;
    uint32_t code;

    if (length == 0 || length > size)
        return 0;
    code = (uint8_t)text[0] & (length == 1 ? 0x7Fu : 0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if (((uint8_t)text[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | ((uint8_t)text[i] & 0x3F);
    }
    if (code < ' ' || (code >= 0x7F && code < 0xA0) || is_hidden(code))
        return 0;
    *out = code;
    return code >= smallest[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF) ? length
                                                                                            : 0;
}

void io_utf8_copy(char *out, size_t size, const char *text, size_t length)
{
    size_t done = 0;

    for (size_t at = 0; at < length;) {
        size_t n = io_utf8_character(text + at, length - at);
        size_t bytes = n > 0 ? n : 1;
        if (bytes > size - 1 - done)
            break;
        if (n > 0)
            memcpy(out + done, text + at, n);
        else
            out[done] = '?';
        done += bytes;
        at += bytes;
    }
    out[done] = '\0';
}

static char *escape(const char *text, const char *keep, const char *mark)
{
    size_t length = strlen(text), longest = strlen(mark) + 2;
    char *copy = length < SIZE_MAX / longest ? malloc(length * longest + 1) : NULL, *end = copy;

    for (size_t at = 0; copy != NULL && at < length;) {
        size_t n = strchr(keep, text[at]) != NULL ? 1 : io_utf8_character(text + at, length - at);
        if (n > 0)
            end = mempcpy(end, text + at, n);
        else
            end += sprintf(end, "%s%02x", mark, (uint8_t)text[at]);
        at += n > 0 ? n : 1;
    }
    if (copy != NULL)
        *end = '\0';
    return copy;
}

char *io_utf8_shown(const char *text, const char *keep)
{
    return escape(text, keep, "\\x");
}

char *io_utf8_json(const char *json)
{
    return escape(json, "\n\t", "\\\\x");
}
