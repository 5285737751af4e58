/* SPDX-License-Identifier: Apache-2.0 */
/* Parses shapes of the command line. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define BENCH_EXTENTS_MAX 12
#define BENCH_SHAPE_TEXT 128

typedef struct bench_shape {
    int32_t count;
    int64_t extents[BENCH_EXTENTS_MAX];
} bench_shape;

/* Parses a shape such as "1024x3x2K": numbers joined by x, with an optional K, M or G (powers of 1024). Each is at
 * least 1 and their product is below 2^62. Returns 0 if the text is malformed. */
int32_t bench_shape_parse(const char *text, bench_shape *shape);
/* Writes "10000x1000x3"; "()" if there are no extents. Returns `text`. */
const char *bench_shape_text(int32_t count, const int64_t *extents, char text[BENCH_SHAPE_TEXT]);
