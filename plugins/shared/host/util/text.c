/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>

void text_add(text *t, const char *format, ...)
{
    va_list arguments;
    uint64_t left = t->used < t->capacity ? t->capacity - t->used : 0;
    va_start(arguments, format);
    int n = vsnprintf(left ? t->at + t->used : NULL, (size_t)left, format, arguments);
    va_end(arguments);
    if (n > 0)
        t->used += (uint64_t)n;
}

void text_quote(text *t, const char *string)
{
    text_add(t, "\"");
    for (const char *c = string; *c; c++) {
        if (*c == '"' || *c == '\\')
            text_add(t, "\\%c", *c);
        else
            text_add(t, "%c", *c >= ' ' && *c <= '~' ? *c : ' ');
    }
    text_add(t, "\"");
}
