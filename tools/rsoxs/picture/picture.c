/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs_view.c, tests/tools/rsoxs/test_rsoxs_results.c */
#include "picture.h"

#include "canvas/canvas.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RSOXS_COLOUR_NAN 0xc8c8c8u

#define PI 3.14159265358979323846

static uint32_t channel(double linear)
{
    double v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
    return (uint32_t)lround(255 * fmin(fmax(v, 0), 1));
}

static double cube(double v)
{
    return v * v * v;
}

static uint32_t from_oklch(double lightness, double chroma, double degrees)
{
    double a = chroma * cos(degrees * PI / 180), b = chroma * sin(degrees * PI / 180);
    double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
    double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
    double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
    return channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) << 16 |
           channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) << 8 |
           channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

/* Paths through the colour space Oklab, with the equations and constants of B. Ottosson, "A perceptual color space for
 * image processing", 2020. sRGB is as in IEC 61966-2-1. */

/* Returns the colour 0xRRGGBB for t from 0 to 1: from dark blue through red to light yellow, with evenly
 * growing lightness. All colours of this function and the next are within sRGB. */
static uint32_t rsoxs_colour(double t)
{
    double chroma = 0.06 * (1 - t) * (1 - 2 * t) + 0.18 * 4 * t * (1 - t) + 0.11 * t * (2 * t - 1);
    return from_oklch(0.12 + 0.85 * t, chroma, 275 + 195 * t);
}

/* Returns the colour of an angle, where t = 1 is a whole turn: all hues, with the same lightness. */
static uint32_t rsoxs_colour_cyclic(double t)
{
    return from_oklch(0.75, 0.125, 360 * t);
}

/* These lengths are before scaling; the longer side of the map is SIDE. */
#define SIDE 640.0
#define LEFT 88.0
#define TOP 44.0
#define RIGHT 132.0
#define BOTTOM 62.0
#define BAR_GAP 18.0
#define BAR_WIDTH 20.0
#define BAR_HEIGHT 180.0 /* the minimum */
#define NARROW 60.0      /* the minimum of the shorter side, even if this changes the aspect ratio */
#define FONT TOOL_CANVAS_FONT
#define TITLE 16.0
#define PIXELS_MAX 2048
#define DECADES 12.0 /* the colours show at most this range */
#define COLOURS 1024

const int rsoxs_has_pictures = 1;

typedef struct canvas {
    const rsoxs_picture *picture;
    rsoxs_axis colour; /* the picture's axis, with its range */
    uint32_t colours[COLOURS];
    int has_nan;
    double scale;                 /* the scale of `own` */
    int left, top, width, height; /* the place of the map, device pixels */
    int whole_width, whole_height;
    double bar_top, bar_height, bar_right; /* bar_right: the end of its longest label */
    tool_canvas own;
} canvas;

/* ---- Numbers and places ---------------------------------------------------------------------- */

static tool_range range_of(const rsoxs_axis *axis)
{
    return (tool_range){axis->from, axis->to, axis->logarithmic};
}

/* Returns the index, among `count` numbers, of the number at a place. */
static int64_t index_at(const rsoxs_axis *axis, int64_t count, double t)
{
    double value = axis->logarithmic ? axis->from * pow(axis->to / axis->from, t)
                                     : axis->from + t * (axis->to - axis->from);
    int64_t low = 0, high = count - 1;
    if (!axis->edges)
        low = (int64_t)((value - axis->from) / (axis->to - axis->from) * (double)count);
    else
        while (low < high) {
            int64_t middle = (low + high + 1) / 2;
            if (axis->edges[middle] <= value)
                low = middle;
            else
                high = middle - 1;
        }
    return low < 0 ? 0 : low < count ? low : count - 1;
}

/* Finds the range of the colours: the range of the values, without values far below the largest. */
static void find_range(canvas *c)
{
    const rsoxs_picture *p = c->picture;
    double lowest = INFINITY, highest = -INFINITY;
    for (int64_t i = 0; i < p->rows * p->columns; i++) {
        double v = (double)p->values[i];
        c->has_nan |= isnan(v);
        if (isfinite(v) && (v > 0 || !p->colour.logarithmic)) {
            lowest = fmin(lowest, v);
            highest = fmax(highest, v);
        }
    }
    c->colour = p->colour;
    if (c->colour.from < c->colour.to)
        return;
    if (!(lowest <= highest))
        lowest = highest = 1;
    if (c->colour.logarithmic)
        lowest = fmax(lowest, highest * pow(10, -DECADES));
    if (lowest == highest)
        highest = c->colour.logarithmic ? 10 * lowest : lowest + 1;
    c->colour.from = lowest;
    c->colour.to = highest;
}

static uint32_t colour_of(const canvas *c, double value)
{
    if (isnan(value))
        return RSOXS_COLOUR_NAN;
    const tool_range range = range_of(&c->colour);
    double t = range.logarithmic && value <= 0 ? 0 : tool_range_place(&range, value);
    return c->colours[(int)(fmin(fmax(t, 0), 1) * (COLOURS - 1) + 0.5)];
}

/* ---- Layout ---------------------------------------------------------------------------------- */

static void lay_out(canvas *c)
{
    const rsoxs_picture *p = c->picture;
    double longest = (double)(p->columns > p->rows ? p->columns : p->rows);
    double width = SIDE, height = 0.75 * SIDE;
    c->scale = 1.5;
    if (p->square) {
        /* Each value has a whole number of pixels, if they fit. */
        double pixels = fmin(longest * ceil(SIDE / longest), PIXELS_MAX);
        double aspect = (p->y.to - p->y.from) / (p->x.to - p->x.from);
        c->scale = pixels / SIDE;
        width = aspect > 1 ? fmax(SIDE / aspect, NARROW) : SIDE;
        height = aspect > 1 ? SIDE : fmax(SIDE * aspect, NARROW);
    }
    c->bar_height = fmax(height, BAR_HEIGHT) * c->scale;
    c->width = (int)fmax(1, round(width * c->scale));
    c->height = (int)fmax(1, round(height * c->scale));
    c->bar_top = TOP * c->scale;
    c->left = (int)lround(LEFT * c->scale);
    c->top = (int)lround(TOP * c->scale + (c->bar_height - c->height) / 2);
    c->whole_width = c->left + c->width + (int)lround(RIGHT * c->scale);
    c->whole_height = (int)lround(c->bar_height + (TOP + BOTTOM) * c->scale);
}

/* ---- Ticks ----------------------------------------------------------------------------------- */

static void draw_line(canvas *c, double x, double y, double dx, double dy)
{
    cairo_move_to(c->own.cairo, x, y);
    cairo_rel_line_to(c->own.cairo, dx * c->scale, dy * c->scale);
}

static void tick_x(void *user, double t, const char *label)
{
    canvas *c = user;
    double x = c->left + t * c->width, y = c->top + c->height;
    draw_line(c, x, y, 0, 5);
    cairo_stroke(c->own.cairo);
    tool_canvas_text(&c->own, label, x, y + 16 * c->scale, 0.5, 0, FONT);
}

static void tick_y(void *user, double t, const char *label)
{
    canvas *c = user;
    double x = c->left, y = c->top + (1 - t) * c->height;
    draw_line(c, x, y, -5, 0);
    cairo_stroke(c->own.cairo);
    tool_canvas_text(&c->own, label, x - 9 * c->scale, y, 1, 0, FONT);
}

static void tick_bar(void *user, double t, const char *label)
{
    canvas *c = user;
    double x = c->left + c->width + (BAR_GAP + BAR_WIDTH) * c->scale;
    double y = c->bar_top + (1 - t) * c->bar_height;
    draw_line(c, x, y, 5, 0);
    cairo_stroke(c->own.cairo);
    x += 9 * c->scale;
    c->bar_right = fmax(c->bar_right, x + tool_canvas_text(&c->own, label, x, y, 0, 0, FONT));
}

static void draw_ticks(canvas *c, const rsoxs_axis *axis, double length, double space,
                       tool_tick_fn draw)
{
    const tool_range range = range_of(axis);
    tool_canvas_ticks(&c->own, &range, length, space, draw, c);
}

/* ---- Parts of the picture -------------------------------------------------------------------- */

static void frame(canvas *c, double x, double y, double width, double height)
{
    cairo_set_source_rgb(c->own.cairo, 0, 0, 0);
    cairo_rectangle(c->own.cairo, x, y, width, height);
    cairo_stroke(c->own.cairo);
}

/* Draws the map directly into the pixels of the surface. */
static void draw_map(canvas *c, cairo_surface_t *surface)
{
    const rsoxs_picture *p = c->picture;
    int stride = cairo_image_surface_get_stride(surface);
    cairo_surface_flush(surface);
    unsigned char *data = cairo_image_surface_get_data(surface);
    for (int y = 0; y < c->height; y++) {
        int64_t row = index_at(&p->y, p->rows, 1 - (y + 0.5) / c->height);
        unsigned char *line = data + (size_t)(c->top + y) * (size_t)stride;
        for (int x = 0; x < c->width; x++) {
            int64_t column = index_at(&p->x, p->columns, (x + 0.5) / c->width);
            uint32_t rgb = colour_of(c, (double)p->values[row * p->columns + column]);
            memcpy(line + (size_t)(c->left + x) * sizeof rgb, &rgb, sizeof rgb);
        }
    }
    cairo_surface_mark_dirty(surface);
    frame(c, c->left, c->top, c->width, c->height);
}

static void fill(canvas *c, uint32_t rgb, double x, double y, double width, double height)
{
    cairo_set_source_rgb(c->own.cairo, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0,
                         (rgb & 255) / 255.0);
    cairo_rectangle(c->own.cairo, x, y, width, height);
    cairo_fill(c->own.cairo);
}

static void draw_bar(canvas *c)
{
    double x = c->left + c->width + BAR_GAP * c->scale, width = BAR_WIDTH * c->scale;
    int steps = (int)c->bar_height;
    for (int i = 0; i < steps; i++) {
        double t = (steps - i - 0.5) / steps;
        fill(c, c->colours[(int)(t * (COLOURS - 1) + 0.5)], x, c->bar_top + i, width,
             fmin(2, c->bar_height - i));
    }
    frame(c, x, c->bar_top, width, c->bar_height);
    draw_ticks(c, &c->colour, c->bar_height, 40, tick_bar);
    tool_canvas_text(&c->own, c->colour.label, c->bar_right + 20 * c->scale,
                     c->bar_top + c->bar_height / 2, 0.5, TOOL_CANVAS_UP, FONT);
    if (c->has_nan) {
        double y = c->bar_top + c->bar_height + 22 * c->scale;
        fill(c, RSOXS_COLOUR_NAN, x, y, width, 16 * c->scale);
        frame(c, x, y, width, 16 * c->scale);
        tool_canvas_text(&c->own, "NaN", x + width + 9 * c->scale, y + 8 * c->scale, 0, 0, FONT);
    }
}

static void draw(canvas *c)
{
    const rsoxs_picture *p = c->picture;
    draw_map(c, c->own.surface);
    draw_ticks(c, &p->x, c->width, 60, tick_x);
    draw_ticks(c, &p->y, c->height, 40, tick_y);
    draw_bar(c);
    tool_canvas_text(&c->own, p->x.label, c->left + c->width / 2.0,
                     c->top + c->height + 42 * c->scale, 0.5, 0, FONT);
    tool_canvas_text(&c->own, p->y.label, 20 * c->scale, c->top + c->height / 2.0, 0.5,
                     TOOL_CANVAS_UP, FONT);
    cairo_set_font_size(c->own.cairo, TITLE * c->scale);
    cairo_text_extents_t extents;
    cairo_text_extents(c->own.cairo, p->title, &extents);
    tool_canvas_text(&c->own, p->title, c->whole_width / 2.0, 22 * c->scale, 0.5, 0,
                     TITLE * fmin(1, 0.97 * c->whole_width / extents.x_advance));
}

/* ---- The file -------------------------------------------------------------------------------- */

collet_status rsoxs_picture_write(const rsoxs_picture *picture, const char *path, int replace,
                                  collet_error *err)
{
    canvas c = {.picture = picture};
    find_range(&c);
    lay_out(&c);
    for (int i = 0; i < COLOURS; i++)
        c.colours[i] = (picture->cyclic ? rsoxs_colour_cyclic : rsoxs_colour)(i / (COLOURS - 1.0));
    collet_status status =
        tool_canvas_create(&c.own, c.whole_width, c.whole_height, c.scale, path, err);
    if (status == COLLET_OK) {
        draw(&c);
        status = tool_canvas_save(&c.own, path, replace, err);
    }
    tool_canvas_free(&c.own);
    return status;
}
