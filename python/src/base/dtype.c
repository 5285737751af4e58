/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: python/tests/test_dtypes.py */
#include "dtype.h"

#include <stdio.h>
#include <string.h>

#define NAME(NAME, id, bytes, text, letter, type, kind, name) [id] = name,
static const char *const names[COLLET_DTYPE_COUNT] = {"none", COLLET_DTYPE_LIST(NAME)};

const char *dtype_name(collet_dtype dtype)
{
    return names[dtype > 0 && dtype < COLLET_DTYPE_COUNT ? dtype : 0];
}

collet_dtype dtype_foreign(const char *name, size_t length)
{
    static const collet_dtype foreign[] = {COLLET_F16, COLLET_I8, COLLET_U8};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        const char *own = collet_dtype_name(foreign[i]);
        if (strlen(own) == length && !memcmp(own, name, length))
            return foreign[i];
    }
    return 0;
}

/* Whether a character can belong to a longer name or to a quotation. */
static int is_part(char c)
{
    return c == '_' || c == '\'' || c == '"' || c == '/' || c == '-' || (c >= '0' && c <= '9') ||
           ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* Whether a word between the character `before` and the text `behind` is the name of a dtype. The words i64 in 'i64'
 * and f64 in f64=own are not; i64 in "i64(x)", a quoted expression, is. */
static int is_word(char before, const char *behind)
{
    if (before == '"' && *behind == '(')
        return 1;
    return !is_part(before) && before != '.' && !is_part(*behind) && *behind != '=' &&
           !(*behind == '.' && is_part(behind[1]));
}

/* The dtype whose name (in libcore's form) begins the text; 0: none. */
static collet_dtype dtype_at(const char *text, char before, size_t *length)
{
    for (collet_dtype d = 1; d < COLLET_DTYPE_COUNT; d++) {
        *length = strlen(collet_dtype_name(d));
        if (!strncmp(text, collet_dtype_name(d), *length) && is_word(before, text + *length))
            return d;
    }
    return 0;
}

void dtype_translate(const char *text, char *out, size_t size)
{
    size_t n = 0, length;
    char before = ' ';
    while (*text && n < size - 1) {
        collet_dtype dtype = dtype_at(text, before, &length);
        if (dtype) {
            size_t room = size - n,
                   written = (size_t)snprintf(out + n, room, "%s", dtype_name(dtype));
            n += written < room ? written : room - 1;
            text += length;
            before = text[-1];
        } else {
            before = out[n++] = *text++;
        }
    }
    out[n] = 0;
}
