/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - PNG pictures of lines over time, in panels. */
#pragma once

#include "series.h"

#define EXTRACT_PANELS 3
#define EXTRACT_PANEL_LINES 9

typedef struct extract_panel {
    const extract_line *lines[EXTRACT_PANEL_LINES];
    const char *names[EXTRACT_PANEL_LINES]; /* printed before the components */
    int32_t n;
} extract_panel;

typedef struct extract_picture {
    const char *title;
    const char *time;    /* the label of the horizontal axis */
    const double *times; /* n, or NULL: 0, 1, 2, ... times `stride` */
    double unit;         /* the unit of the labelled times, ps */
    int64_t n, stride;
    int banded; /* 1: lines have a band from `low` to `high` */
    int32_t n_panels;
    extract_panel panels[EXTRACT_PANELS];
} extract_picture;

/* Writes the picture to a temporary file and renames it when it is complete. Fails with IO or NO_MEMORY, and with
 * REFUSED without cairo. */
collet_status extract_draw(const extract_picture *picture, const char *path, int force,
                           collet_error *err);
/* A check before the picture is made: IO if the file exists and `force` is 0; REFUSED without cairo. */
collet_status extract_draw_check(const char *path, int force, collet_error *err);
