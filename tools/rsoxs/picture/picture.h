/* SPDX-License-Identifier: Apache-2.0 */
/* picture.h - a map of numbers with axes and a colour bar, as PNG. */
#ifndef TOOLS_RSOXS_PICTURE_PICTURE_H
#define TOOLS_RSOXS_PICTURE_PICTURE_H

#include <collet/collet.h>

typedef struct rsoxs_axis {
    const char *label;
    double from, to; /* the outer edges of the first and the last number */
    int logarithmic;
    const double *edges; /* of all numbers, one more than they are; NULL: equally spaced */
} rsoxs_axis;

typedef struct rsoxs_picture {
    const char *title;
    rsoxs_axis x, y, colour; /* colour: from == to: the range of the values */
    int square;              /* the units of x and y have the same length */
    int cyclic;              /* the colours of `from` and `to` are the same */
    int64_t columns, rows;
    const float *values; /* rows x columns, the first row at the bottom */
} rsoxs_picture;

/* Whether this program was built with cairo. */
extern const int rsoxs_has_pictures;
/* Writes the picture under a temporary name, renamed when it is complete. IO, also if the file exists and
 * `replace` is 0; NO_MEMORY; REFUSED
 * without cairo. */
collet_status rsoxs_picture_write(const rsoxs_picture *picture, const char *path, int replace,
                                  collet_error *err);

#endif
