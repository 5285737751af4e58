/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/cpu_openmp/test_kernels_openmp.c, tests/cuda/test_cuda_capabilities.c */
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

void text_string(text *t, const char *name, const char *value)
{
    text_add(t, ", \"%s\": ", name);
    text_quote(t, value);
}

void text_number(text *t, const char *name, uint64_t value)
{
    if (value)
        text_add(t, ", \"%s\": %llu", name, (unsigned long long)value);
}

void text_uuid(text *t, const unsigned char uuid[16])
{
    text_add(t, ", \"uuid\": \"");
    for (int i = 0; i < 16; i++)
        text_add(t, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    text_add(t, "\"");
}
