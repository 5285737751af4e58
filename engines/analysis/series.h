/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a series of frames, a few bodies at a time, as rows: a row is one component of one body over
 * all frames. */
#pragma once

#include <collet/collet.h>

/* The maximum number of f64 numbers in memory at a time: 32 MiB. */
#define ANALYSIS_AT_ONCE ((int64_t)1 << 22)

typedef struct analysis_series {
    collet_context *context;
    const char *name;   /* "x", for messages */
    collet_array *rows; /* a view, bodies x components x frames */
    int32_t ndim;       /* axes of the array that was given */
    int64_t frames, bodies, components;
    int64_t at_once; /* bodies that analysis_series_load takes at most */
    double *numbers; /* memory for analysis_series_load */
} analysis_series;

/* `rows`: number of rows that the caller computes for each body. at_once is chosen so that the memory of these rows
 * is limited. After an error do not call analysis_series_close. */
collet_status analysis_series_open(analysis_series *series, collet_context *context,
                                   const collet_array *x, const char *name, int64_t rows,
                                   int64_t blocks, collet_error *err);
void analysis_series_close(analysis_series *series);

/* Loads up to at_once bodies from `body` on into `numbers`, *count x components x frames; the caller
 * may change `numbers`. *count is 0 after the last body. INVALID if a number is not finite. */
collet_status analysis_series_load(analysis_series *series, int64_t *count, int64_t body,
                                   collet_error *err);

/* Returns INVALID with the text "NAME `what` at frame F, body B, component C`advice`"; the component
 * is left out if it is -1. */
collet_status analysis_series_refuse(const analysis_series *series, const char *what,
                                     const char *advice, int64_t frame, int64_t body,
                                     int64_t component, collet_error *err);

/* INVALID if `first`, an element of a curve, is not finite: a sum of squares has overflowed. */
collet_status analysis_series_check(const analysis_series *series, double first, collet_error *err);

/* Copies the text of the context's last error to *err; returns `status`. */
collet_status analysis_failed(collet_context *context, collet_status status, collet_error *err);
