/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_plot.c */
#include "draw.h"

#include "canvas/canvas.h"
#include "io/spool.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Lengths before scaling. */
#define SCALE 1.5
#define LEFT 140.0
#define TOP 44.0
#define WIDTH 480.0
#define RIGHT 190.0 /* the names of the lines are here */
#define HEIGHT 170.0
#define GAP 18.0
#define BOTTOM 62.0
#define BAND 0.16 /* opacity */
#define MARGIN 0.05
#define THICK 1.4 /* of lines of numbers */

typedef struct figure {
    const extract_picture *picture;
    tool_canvas canvas;
    tool_range x, y; /* y is the range of the panel that is drawn */
    double top;      /* upper edge of this panel, device pixels */
    int last;        /* 1: this panel is the lowest */
} figure;

static const double colours[EXTRACT_PANEL_LINES][3] = {
    {0.12, 0.47, 0.71}, {1.00, 0.50, 0.05}, {0.17, 0.63, 0.17},
    {0.84, 0.15, 0.16}, {0.58, 0.40, 0.74}, {0.55, 0.34, 0.29},
    {0.89, 0.47, 0.76}, {0.50, 0.50, 0.50}, {0.09, 0.75, 0.81}};

static double time_at(const extract_picture *p, int64_t i)
{
    return p->times ? p->times[i] / p->unit : (double)(i * p->stride);
}

static double x_of(const figure *f, double value)
{
    return (LEFT + WIDTH * tool_range_place(&f->x, value)) * SCALE;
}

static double y_of(const figure *f, double value)
{
    return f->top + HEIGHT * SCALE * (1 - tool_range_place(&f->y, value));
}

static void widen(tool_range *range, double value)
{
    if (!isfinite(value))
        return;
    range->from = fmin(range->from, value);
    range->to = fmax(range->to, value);
}

static void finish(tool_range *range, double margin)
{
    if (!(range->from <= range->to))
        *range = (tool_range){0, 1, 0};
    double length = range->to - range->from;
    /* Numbers that differ only by rounding are drawn as a flat line. */
    if (length <= 1e-12 * fmax(fabs(range->from), fabs(range->to)))
        margin = 1, length = fmax(0.01 * fabs(range->from), 1e-9);
    range->from -= margin * length;
    range->to += margin * length;
}

/* ---- Panels ------------------------------------------------------------------------------ */

static void tick_x(void *user, double t, const char *label)
{
    figure *f = user;
    double x = (LEFT + t * WIDTH) * SCALE, bottom = f->top + HEIGHT * SCALE;

    cairo_set_source_rgb(f->canvas.cairo, 0.88, 0.88, 0.88);
    cairo_move_to(f->canvas.cairo, x, f->top);
    cairo_line_to(f->canvas.cairo, x, bottom);
    cairo_stroke(f->canvas.cairo);
    cairo_set_source_rgb(f->canvas.cairo, 0, 0, 0);
    if (f->last)
        tool_canvas_text(&f->canvas, label, x, bottom + 16 * SCALE, 0.5, 0, TOOL_CANVAS_FONT);
}

static void tick_y(void *user, double t, const char *label)
{
    figure *f = user;
    double y = f->top + (1 - t) * HEIGHT * SCALE;

    cairo_set_source_rgb(f->canvas.cairo, 0.88, 0.88, 0.88);
    cairo_move_to(f->canvas.cairo, LEFT * SCALE, y);
    cairo_line_to(f->canvas.cairo, (LEFT + WIDTH) * SCALE, y);
    cairo_stroke(f->canvas.cairo);
    cairo_set_source_rgb(f->canvas.cairo, 0, 0, 0);
    tool_canvas_text(&f->canvas, label, (LEFT - 9) * SCALE, y, 1, 0, TOOL_CANVAS_FONT);
}

/* Angles jump from pi to -pi; no line is drawn at such a jump. */
static int leaps(const extract_line *line, int64_t i)
{
    return strcmp(line->unit, "rad") == 0 && i > 0 &&
           fabs(line->middle[i] - line->middle[i - 1]) > 3.14159265358979323846;
}

static void draw_band(const figure *f, const extract_line *line)
{
    const extract_picture *p = f->picture;
    cairo_t *cairo = f->canvas.cairo;

    for (int64_t i = 0; i < 2 * p->n; i++) {
        int64_t k = i < p->n ? i : 2 * p->n - 1 - i;
        double value = i < p->n ? line->high[k] : line->low[k];
        if (isfinite(value) && isfinite(time_at(p, k)))
            cairo_line_to(cairo, x_of(f, time_at(p, k)), y_of(f, value));
    }
    cairo_close_path(cairo);
    cairo_fill(cairo);
}

static void draw_line(const figure *f, const extract_line *line)
{
    const extract_picture *p = f->picture;
    cairo_t *cairo = f->canvas.cairo;
    int joined = 0;

    for (int64_t i = 0; i < p->n; i++) {
        double x = time_at(p, i), y = line->middle[i];
        if (!isfinite(x) || !isfinite(y)) {
            joined = 0;
            continue;
        }
        if (joined && !leaps(line, i))
            cairo_line_to(cairo, x_of(f, x), y_of(f, y));
        else
            cairo_move_to(cairo, x_of(f, x), y_of(f, y));
        if (p->n == 1)
            cairo_arc(cairo, x_of(f, x), y_of(f, y), 2 * SCALE, 0, 6.3);
        joined = 1;
    }
    cairo_stroke(cairo);
}

static void name_of(const extract_panel *panel, int32_t i, char *text, size_t size)
{
    const char *name = panel->names[i], *component = panel->lines[i]->component;

    snprintf(text, size, "%s%s%s", name, *name && *component ? " " : "", component);
}

/* Writes the label of the vertical axis: "x (nm)" for one line, "(nm)" for several. */
static void label_panel(const figure *f, const extract_panel *panel)
{
    char name[64] = "", unit[64] = "", label[140];
    const char *from = panel->lines[0]->unit;
    size_t n = 0;

    if (panel->n == 1)
        name_of(panel, 0, name, sizeof name);
    for (; *from && n + 3 < sizeof unit; from++) {
        int square = from[0] == '^' && from[1] == '2';
        n += (size_t)snprintf(unit + n, sizeof unit - n, square ? "²" : "%c", *from);
        from += square;
    }
    if (strcmp(unit, "1") == 0)
        snprintf(label, sizeof label, "%s", name);
    else
        snprintf(label, sizeof label, "%s%s(%s)", name, *name ? " " : "", unit);
    tool_canvas_text(&f->canvas, label, 20 * SCALE, f->top + HEIGHT / 2 * SCALE, 0.5,
                     TOOL_CANVAS_UP, TOOL_CANVAS_FONT);
}

static void draw_legend(const figure *f, const extract_panel *panel)
{
    cairo_t *cairo = f->canvas.cairo;
    double x = (LEFT + WIDTH + 14) * SCALE, step = 20 * SCALE;
    double y = f->top + HEIGHT / 2 * SCALE - step * (panel->n - 1) / 2;
    char name[64];

    for (int32_t i = 0; panel->n > 1 && i < panel->n; i++, y += step) {
        cairo_set_source_rgb(cairo, colours[i][0], colours[i][1], colours[i][2]);
        cairo_move_to(cairo, x, y);
        cairo_line_to(cairo, x + 20 * SCALE, y);
        cairo_set_line_width(cairo, THICK * SCALE);
        cairo_stroke(cairo);
        cairo_set_line_width(cairo, SCALE);
        cairo_set_source_rgb(cairo, 0, 0, 0);
        name_of(panel, i, name, sizeof name);
        tool_canvas_text(&f->canvas, name, x + 27 * SCALE, y, 0, 0, TOOL_CANVAS_FONT);
    }
}

static void draw_panel(figure *f, const extract_panel *panel)
{
    const extract_picture *p = f->picture;
    cairo_t *cairo = f->canvas.cairo;

    f->y = (tool_range){INFINITY, -INFINITY, 0};
    for (int32_t i = 0; i < panel->n; i++)
        for (int64_t k = 0; k < p->n; k++) {
            widen(&f->y, panel->lines[i]->middle[k]);
            widen(&f->y, p->banded ? panel->lines[i]->low[k] : NAN);
            widen(&f->y, p->banded ? panel->lines[i]->high[k] : NAN);
        }
    finish(&f->y, MARGIN);
    tool_canvas_ticks(&f->canvas, &f->x, WIDTH * SCALE, 60, tick_x, f);
    tool_canvas_ticks(&f->canvas, &f->y, HEIGHT * SCALE, 28, tick_y, f);
    cairo_save(cairo);
    cairo_rectangle(cairo, LEFT * SCALE, f->top, WIDTH * SCALE, HEIGHT * SCALE);
    cairo_clip(cairo);
    cairo_set_line_width(cairo, THICK * SCALE);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    for (int32_t i = 0; i < panel->n; i++) {
        cairo_set_source_rgba(cairo, colours[i][0], colours[i][1], colours[i][2], BAND);
        if (p->banded)
            draw_band(f, panel->lines[i]);
        cairo_set_source_rgb(cairo, colours[i][0], colours[i][1], colours[i][2]);
        draw_line(f, panel->lines[i]);
    }
    cairo_restore(cairo);
    cairo_set_line_width(cairo, SCALE);
    cairo_set_source_rgb(cairo, 0, 0, 0);
    cairo_rectangle(cairo, LEFT * SCALE, f->top, WIDTH * SCALE, HEIGHT * SCALE);
    cairo_stroke(cairo);
    label_panel(f, panel);
    draw_legend(f, panel);
}

collet_status extract_draw_check(const char *path, int force, collet_error *err)
{
    return io_spool_check_output(path, force, err);
}

collet_status extract_draw(const extract_picture *p, const char *path, int force,
                           collet_error *err)
{
    figure f = {.picture = p, .x = {INFINITY, -INFINITY, 0}};
    double height = TOP + p->n_panels * (HEIGHT + GAP) - GAP + BOTTOM;

    collet_status status = tool_canvas_create(&f.canvas, (int)((LEFT + WIDTH + RIGHT) * SCALE),
                                              (int)(height * SCALE), SCALE, path, err);
    if (status == COLLET_OK) {
        for (int64_t i = 0; i < p->n; i++)
            widen(&f.x, time_at(p, i));
        finish(&f.x, 0);
        cairo_set_source_rgb(f.canvas.cairo, 0, 0, 0);
        tool_canvas_text(&f.canvas, p->title, (LEFT + WIDTH / 2) * SCALE, 22 * SCALE, 0.5, 0,
                         TOOL_CANVAS_FONT + 1);
        for (int32_t i = 0; i < p->n_panels; i++) {
            f.top = (TOP + i * (HEIGHT + GAP)) * SCALE;
            f.last = i + 1 == p->n_panels;
            draw_panel(&f, &p->panels[i]);
        }
        tool_canvas_text(&f.canvas, p->time, (LEFT + WIDTH / 2) * SCALE, (height - 20) * SCALE, 0.5,
                         0, TOOL_CANVAS_FONT);
        status = tool_canvas_save(&f.canvas, path, force, err);
    }
    tool_canvas_free(&f.canvas);
    return status;
}
