/* SPDX-License-Identifier: Apache-2.0 */
/* A series of frames as rows, one a component of a body, a few bodies at a time. */
#ifndef ENGINES_ANALYSIS_SERIES_H
#define ENGINES_ANALYSIS_SERIES_H

#include <collet/collet.h>

/* Numbers that are worked on at a time: 32 MiB. */
#define ANALYSIS_AT_ONCE ((int64_t)1 << 22)

typedef struct analysis_series {
    collet_context *context;
    const char *name;   /* "x", for messages */
    collet_array *rows; /* a view, bodies x components x frames */
    int32_t ndim;       /* of the array that was given */
    int64_t frames, bodies, components;
    int64_t at_once; /* bodies that analysis_series_load takes at most */
    double *numbers; /* of analysis_series_load */
} analysis_series;

/* `rows`: series that the caller makes of a body, for the memory it takes. After an error nothing
 * is to be closed. */
collet_status analysis_series_open(analysis_series *series, collet_context *context,
                                   const collet_array *x, const char *name, int64_t rows,
                                   int64_t blocks, collet_error *err);
void analysis_series_close(analysis_series *series);

/* Loads up to at_once bodies from `body` on into `numbers`, *count x components x frames, that the
 * caller may change; *count is 0 after the last. INVALID for numbers that are not finite. */
collet_status analysis_series_load(analysis_series *series, int64_t *count, int64_t body,
                                   collet_error *err);

/* Sets *err to INVALID with "NAME `what` at frame F, body B, component C`advice`"; component -1: none. */
collet_status analysis_series_refuse(const analysis_series *series, const char *what,
                                     const char *advice, int64_t frame, int64_t body,
                                     int64_t component, collet_error *err);

/* INVALID unless the first number of a curve is finite. */
collet_status analysis_series_check(const analysis_series *series, double first, collet_error *err);

/* *err gets the context's error. */
collet_status analysis_failed(collet_context *context, collet_status status, collet_error *err);

#endif
