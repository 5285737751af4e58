/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_parts.c, tests/tools/test_bench.c */
#include "shape.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NUMBER_MAX ((int64_t)1 << 62)

/* Reads a number and returns its end; NULL if there is none. */
static const char *take_number(const char *text, int64_t *number)
{
    static const char units[] = "KMG";
    int64_t value = 0;
    if (!isdigit((unsigned char)*text))
        return NULL;
    for (; isdigit((unsigned char)*text); text++) {
        if (value > (NUMBER_MAX - 9) / 10)
            return NULL;
        value = 10 * value + (*text - '0');
    }
    const char *unit = *text ? strchr(units, *text) : NULL;
    for (; unit && unit >= units; unit--) {
        if (value > NUMBER_MAX / 1024)
            return NULL;
        value *= 1024;
    }
    if (*text && strchr(units, *text))
        text++;
    *number = value;
    return text;
}

int32_t bench_shape_parse(const char *text, bench_shape *shape)
{
    int64_t product = 1;
    *shape = (bench_shape){0};
    for (;;) {
        int64_t number;
        text = shape->count < BENCH_EXTENTS_MAX ? take_number(text, &number) : NULL;
        if (!text || number < 1 || product > NUMBER_MAX / number)
            return 0;
        product *= number;
        shape->extents[shape->count++] = number;
        if (!*text)
            return 1;
        if (*text++ != 'x')
            return 0;
    }
}

const char *bench_shape_text(int32_t count, const int64_t *extents, char text[BENCH_SHAPE_TEXT])
{
    size_t length = 0;
    if (!count)
        return strcpy(text, "()");
    for (int32_t i = 0; i < count && length < BENCH_SHAPE_TEXT; i++)
        length += (size_t)snprintf(text + length, BENCH_SHAPE_TEXT - length, "%s%" PRId64,
                                   i ? "x" : "", extents[i]);
    return text;
}
