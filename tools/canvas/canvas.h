/* SPDX-License-Identifier: Apache-2.0 */
/* canvas.h - a picture that is drawn with cairo: texts, ticks of axes, and its PNG file. */
#pragma once

#include <cairo.h>

#include <collet/collet.h>

#define TOOL_CANVAS_FONT 15.0                    /* before scaling */
#define TOOL_CANVAS_UP (-1.57079632679489661923) /* `turn` of vertical text that runs upwards */

typedef struct tool_canvas {
    cairo_surface_t *surface; /* RGB24 */
    cairo_t *cairo;
    double scale; /* device pixels per unit */
} tool_canvas;

/* Creates a white picture of width x height pixels; lines are one unit wide, the font is sans-serif. Free the picture
 * also after an error. Fails with NO_MEMORY; the text names `path`. */
collet_status tool_canvas_create(tool_canvas *canvas, int width, int height, double scale,
                                 const char *path, collet_error *err);
void tool_canvas_free(tool_canvas *canvas);

/* Writes a text of `size` units, rotated by `turn`. It is centred at x, y if `align` is 0.5; it begins there
 * if 0, and ends there if 1. Returns its length in pixels. */
double tool_canvas_text(const tool_canvas *canvas, const char *text, double x, double y,
                        double align, double turn, double size);

/* The range of values that an axis shows. */
typedef struct tool_range {
    double from, to;
    int logarithmic;
} tool_range;

/* Returns the position of a value on an axis: 0 at `from`, 1 at `to`. */
double tool_range_place(const tool_range *range, double value);

/* Draws a tick at position t of an axis (tool_range_place). */
typedef void (*tool_tick_fn)(void *user, double t, const char *label);
/* Chooses ticks at round numbers of an axis of `length` pixels, on which a label takes `space` units. */
void tool_canvas_ticks(const tool_canvas *canvas, const tool_range *range, double length,
                       double space, tool_tick_fn draw, void *user);

/* Writes the PNG under a temporary name and renames it when it is complete. Fails with NO_MEMORY, or with IO, also if
 * the file exists and `replace` is 0. */
collet_status tool_canvas_save(const tool_canvas *canvas, const char *path, int replace,
                               collet_error *err);
