/* SPDX-License-Identifier: Apache-2.0 */
/* letters.h - tests and compares ASCII letters. isalpha, tolower and strncasecmp depend on the
 * program's locale, in which 'I' may not be the upper case of 'i' (Turkish), or a byte of UTF-8 may be
 * a letter. */
#pragma once

#include <stddef.h>

static inline int io_is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static inline int io_is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static inline char io_to_upper(char c)
{
    return io_is_lower(c) ? (char)(c - 'a' + 'A') : c;
}

/* 1 if the first `length` bytes, or the whole texts if they are shorter, differ at most in case. */
static inline int io_same_letters(const char *a, const char *b, size_t length)
{
    size_t i = 0;
    while (i < length && a[i] && io_to_upper(a[i]) == io_to_upper(b[i]))
        i++;
    return i == length || a[i] == b[i];
}
