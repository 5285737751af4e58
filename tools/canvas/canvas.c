/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/rsoxs/test_rsoxs_view.c, tests/tools/test_extract_plot.c */
#include "canvas.h"

#include "io/spool.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

collet_status tool_canvas_create(tool_canvas *c, int width, int height, double scale,
                                 const char *path, collet_error *err)
{
    c->scale = scale;
    c->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    c->cairo = cairo_create(c->surface);
    cairo_set_source_rgb(c->cairo, 1, 1, 1);
    cairo_paint(c->cairo);
    cairo_set_line_width(c->cairo, scale);
    cairo_select_font_face(c->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           CAIRO_FONT_WEIGHT_NORMAL);
    cairo_status_t status = cairo_status(c->cairo);
    return status == CAIRO_STATUS_SUCCESS
               ? COLLET_OK
               : collet_fail(err, COLLET_NO_MEMORY, "%s: %s", path, cairo_status_to_string(status));
}

void tool_canvas_free(tool_canvas *c)
{
    cairo_destroy(c->cairo);
    cairo_surface_destroy(c->surface);
}

/* ---- Text and ticks -------------------------------------------------------------------------- */

double tool_canvas_text(const tool_canvas *c, const char *text, double x, double y, double align,
                        double turn, double size)
{
    cairo_text_extents_t extents;
    cairo_set_font_size(c->cairo, size * c->scale);
    cairo_text_extents(c->cairo, text, &extents);
    cairo_save(c->cairo);
    cairo_move_to(c->cairo, x, y);
    cairo_rotate(c->cairo, turn);
    cairo_rel_move_to(c->cairo, -align * extents.x_advance, 0.35 * size * c->scale);
    cairo_show_text(c->cairo, text);
    cairo_restore(c->cairo);
    return extents.x_advance;
}

double tool_range_place(const tool_range *axis, double value)
{
    return axis->logarithmic ? log(value / axis->from) / log(axis->to / axis->from)
                             : (value - axis->from) / (axis->to - axis->from);
}

static void format_power(int exponent, char text[40])
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    snprintf(plain, sizeof plain, "%d", exponent);
    strcpy(text, "10");
    for (const char *at = plain; *at; at++)
        strcat(text, *at == '-' ? "⁻" : digits[*at - '0']);
}

/* Draws at most `highest` + 1 labels. */
static void tick_decades(const tool_range *axis, double highest, tool_tick_fn draw, void *user)
{
    static const int parts[] = {1, 2, 5};
    char label[40];
    double decades = log10(axis->to / axis->from);
    int step = (int)fmax(1, ceil(decades / highest)), few = decades < highest / 3;
    for (int e = (int)floor(log10(axis->from)); e <= (int)ceil(log10(axis->to)); e++)
        for (int i = 0; i < (few ? 3 : 1); i++) {
            double value = parts[i] * pow(10, e), t = tool_range_place(axis, value);
            if (t < -1e-9 || t > 1 + 1e-9 || e % step != 0)
                continue;
            if (few && e >= -3 && e <= 3)
                snprintf(label, sizeof label, "%g", value);
            else if (parts[i] == 1)
                format_power(e, label);
            else
                *label = '\0';
            draw(user, t, label);
        }
}

static void tick_evenly(const tool_range *axis, double highest, tool_tick_fn draw, void *user)
{
    char label[40];
    double range = axis->to - axis->from, step = pow(10, floor(log10(range / highest)));
    double times = range / step / highest;
    step *= times > 5 ? 10 : times > 2 ? 5 : times > 1 ? 2 : 1;
    for (double i = ceil(axis->from / step - 1e-9); i * step <= axis->to + 1e-9 * range; i++) {
        /* Labels have more than 6 digits if the ticks differ only in later digits. */
        double digits = ceil(log10(fmax(fabs(axis->from), fabs(axis->to)) / step)) + 1;
        snprintf(label, sizeof label, "%.*g", digits > 6 ? (int)digits : 6,
                 i == 0 ? 0.0 : i * step);
        draw(user, tool_range_place(axis, i * step), label);
    }
}

void tool_canvas_ticks(const tool_canvas *c, const tool_range *axis, double length, double space,
                       tool_tick_fn draw, void *user)
{
    double highest = fmin(fmax(length / (space * c->scale), 2), 8);
    (axis->logarithmic ? tick_decades : tick_evenly)(axis, highest, draw, user);
}

/* ---- The file -------------------------------------------------------------------------------- */

typedef struct sink {
    io_spool *spool;
    collet_status status;
    collet_error *err;
} sink;

static cairo_status_t append(void *to, const unsigned char *data, unsigned length)
{
    sink *s = to;
    s->status = io_spool_write(s->spool, data, length, s->err);
    return s->status == COLLET_OK ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

collet_status tool_canvas_save(const tool_canvas *c, const char *path, int replace,
                               collet_error *err)
{
    sink s = {.err = err};
    s.status = io_spool_create(path, IO_SPOOL_OUTPUT, &s.spool, err);
    if (s.status == COLLET_OK && cairo_surface_write_to_png_stream(c->surface, append, &s) != 0 &&
        s.status == COLLET_OK)
        s.status = collet_fail(err, COLLET_NO_MEMORY, "%s: no memory", path);
    if (s.status == COLLET_OK)
        s.status = io_spool_publish(s.spool, replace, err);
    io_spool_free(s.spool);
    return s.status;
}
