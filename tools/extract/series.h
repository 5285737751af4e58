/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - the numbers of results over time, as points for pictures.
 *
 * At most EXTRACT_POINTS points of each number: of more frames, a point stands for several. It has
 * their mean, and the range of what it stands for; with bodies the mean of these, and the standard
 * deviation on both sides.
 */
#ifndef TOOLS_EXTRACT_SERIES_H
#define TOOLS_EXTRACT_SERIES_H

#include <collet/trajectory.h>

#define EXTRACT_POINTS 2048

typedef struct extract_line {
    const char *key, *unit;
    const char *component; /* "" of a single number */
    double *middle, *low, *high;
} extract_line;

typedef struct extract_series {
    const collet_trajectory *trajectory;
    extract_line *lines; /* of all quantities that are computed; the first may be the time */
    int32_t n_lines;
    int64_t bodies; /* 1: none, or one */
    int64_t n;      /* points that have all their frames */
    int64_t stride; /* frames of a point */
    int64_t frames; /* of the point n */
    double *values; /* a line's value in the frame: mean, deviation */
} extract_series;

/* NO_MEMORY. Free it also after an error. */
collet_status extract_series_create(extract_series *series, const collet_trajectory *trajectory,
                                    collet_error *err);
void extract_series_free(extract_series *series);

/* A collet_trajectory_batch_fn; `series` is an extract_series. */
collet_status extract_series_take(void *series, const collet_trajectory_batch *batch,
                                  collet_error *err);

/* Ends the last point, which may have fewer frames. */
void extract_series_end(extract_series *series);

#endif
