/* SPDX-License-Identifier: Apache-2.0 */
/*
 * series.h - the numbers of results over time, as points for pictures.
 *
 * Each number has at most EXTRACT_POINTS points. If there are more frames, a point represents several
 * frames: it has their mean and their range. If there are several bodies, a point has the mean over the
 * bodies, and the range is the standard deviation on both sides.
 */
#pragma once

#include <collet/trajectory.h>

#define EXTRACT_POINTS 2048

typedef struct extract_line {
    const char *key, *unit;
    const char *component; /* "" if the quantity is a single number */
    double *middle, *low, *high;
} extract_line;

typedef struct extract_series {
    const collet_trajectory *trajectory;
    extract_line *lines; /* lines of all quantities that are computed; the first may be the time */
    int32_t n_lines;
    int64_t bodies; /* 1 if there are no bodies, or one body */
    int64_t n;      /* the number of points that have all their frames */
    int64_t stride; /* the number of frames of a point */
    int64_t frames; /* the number of frames that point n has so far */
    double *values; /* each line's value in the frame: mean, deviation */
} extract_series;

/* Fails with NO_MEMORY. Free the series also after an error. */
collet_status extract_series_create(extract_series *series, const collet_trajectory *trajectory,
                                    collet_error *err);
void extract_series_free(extract_series *series);

/* A collet_trajectory_batch_fn; `series` is an extract_series. */
collet_status extract_series_take(void *series, const collet_trajectory_batch *batch,
                                  collet_error *err);

/* Completes the last point, which may have fewer frames. */
void extract_series_end(extract_series *series);
