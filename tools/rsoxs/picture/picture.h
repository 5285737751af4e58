/* SPDX-License-Identifier: Apache-2.0 */
/* picture.h - PNG pictures: maps of numbers with axes and a colour bar. */
#pragma once

#include <collet/collet.h>

typedef struct rsoxs_axis {
    const char *label;
    double from, to; /* the outer edges of the first and the last number */
    int logarithmic;
    const double *edges; /* the edges of all numbers, one more than the numbers; NULL: equally spaced */
} rsoxs_axis;

typedef struct rsoxs_picture {
    const char *title;
    rsoxs_axis x, y, colour; /* if colour has from == to, its range is the range of the values */
    int square;              /* 1: the units of x and y have the same length */
    int cyclic;              /* 1: the colours of `from` and `to` are the same */
    int64_t columns, rows;
    const float *values; /* rows x columns, the first row at the bottom */
} rsoxs_picture;

/* 1 if this program was built with cairo. */
extern const int rsoxs_has_pictures;
/* Writes the picture to a temporary file and renames it when it is complete. Fails with NO_MEMORY; with REFUSED
 * without cairo; with IO, also if the file exists and `replace` is 0. */
collet_status rsoxs_picture_write(const rsoxs_picture *picture, const char *path, int replace,
                                  collet_error *err);
