/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_plot.c */
#include "plot.h"

#include "draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS 4

/* Keys that share an axis, and the names of their lines. Components are drawn if they have one of the
 * characters in `only`; NULL: all components are drawn. */
typedef struct panel_row {
    const char *keys[KEYS], *names[KEYS], *only;
} panel_row;

typedef struct figure_row {
    const char *name, *title;
    panel_row panels[EXTRACT_PANELS];
} figure_row;

#define VECTOR(name, title)                                                                        \
    {                                                                                              \
        name, title,                                                                               \
        {                                                                                          \
            {{name "_vector"}, {name}, NULL},                                                      \
            {                                                                                      \
                {name "_magnitude", name "_parallel_mag", name "_perp_mag", name "_z_mag"},        \
                    {"length", "parallel part", "perpendicular part", "along the axis"}, NULL      \
            }                                                                                      \
        }                                                                                          \
    }

#define SPACE(key, title)                                                                          \
    {                                                                                              \
        key, title,                                                                                \
        {                                                                                          \
            {{key}, {""}, "x"}, {{key}, {""}, "y"},                                                \
            {                                                                                      \
                {key}, {""}, "z"                                                                   \
            }                                                                                      \
        }                                                                                          \
    }

static const figure_row figures[] = {
    SPACE("com", "Centre of mass"),
    {"size",
     "Size and shape",
     {{{"rg"}, {"Rg"}, NULL},
      {{"rmsd"}, {"rmsd"}, NULL},
      {{"asphericity"}, {"asphericity"}, NULL}}},
    {"inertia", "Inertia", {{{"moments"}, {"moment"}, NULL}, {{"inertia_tensor"}, {"I"}, NULL}}},
    {"gyration", "Gyration tensor", {{{"gyration_tensor"}, {"S"}, NULL}}},
    {"orientation", "Orientation", {{{"euler_zyz"}, {""}, NULL}, {{"tilt_deg"}, {"tilt"}, NULL}}},
    {"axes",
     "Principal axes, x1 is the x of the first",
     {{{"axes"}, {""}, "1"}, {{"axes"}, {""}, "2"}, {{"axes"}, {""}, "3"}}},
    {"energy",
     "Kinetic energy",
     {{{"k_total"}, {"total"}, NULL},
      {{"k_trans"}, {"translation"}, NULL},
      {{"k_rot"}, {"rotation"}, NULL}}},
    SPACE("com_velocity", "Velocity of the centre of mass"),
    SPACE("dipole", "Dipole moment"),
    SPACE("end_to_end", "From the first to the last atom"),
    VECTOR("L", "Angular momentum"),
    VECTOR("tau", "Torque"),
    VECTOR("omega", "Angular velocity"),
    VECTOR("dLdt", "Change of the angular momentum"),
};

/* 1 if the line is drawn. A mean of the angles of several bodies has no meaning, and a symmetric tensor
 * has equal pairs of components. */
static int is_drawn(const extract_series *s, const extract_line *line, const panel_row *row)
{
    const char *c = line->component;

    if (strcmp(line->key, "euler_zyz") == 0)
        return s->bodies == 1;
    if (strcmp(line->key, "inertia_tensor") == 0 || strcmp(line->key, "gyration_tensor") == 0)
        return c[0] <= c[1];
    return row->only == NULL || strpbrk(c, row->only) != NULL;
}

static void fill_panel(const extract_series *s, const panel_row *row, extract_panel *panel)
{
    panel->n = 0;
    for (int k = 0; k < KEYS && row->keys[k] != NULL; k++)
        for (int32_t i = 0; i < s->n_lines && panel->n < EXTRACT_PANEL_LINES; i++)
            if (strcmp(s->lines[i].key, row->keys[k]) == 0 && is_drawn(s, &s->lines[i], row)) {
                panel->names[panel->n] = row->names[k];
                panel->lines[panel->n++] = &s->lines[i];
            }
}

/* Sets the times of the picture, in ps; in ns or us if they are long. */
static void choose_times(const extract_series *s, extract_picture *picture)
{
    double last = 0;

    picture->time = "frame";
    picture->unit = 1;
    if (s->n_lines == 0 || strcmp(s->lines[0].key, "time_ps") != 0)
        return;
    picture->times = s->lines[0].middle;
    for (int64_t i = 0; i < s->n; i++)
        last = fmax(last, fabs(picture->times[i]));
    picture->unit = last >= 1e7 ? 1e6 : last >= 1e4 ? 1e3 : 1;
    picture->time = last >= 1e7 ? "time (µs)" : last >= 1e4 ? "time (ns)" : "time (ps)";
}

/* Returns 0 if there is nothing to draw. */
static int fill_panels(const extract_series *s, const figure_row *row, extract_picture *picture)
{
    for (int i = 0; i < EXTRACT_PANELS; i++) {
        fill_panel(s, &row->panels[i], &picture->panels[picture->n_panels]);
        picture->n_panels += picture->panels[picture->n_panels].n > 0;
    }
    return picture->n_panels > 0;
}

static collet_status draw(const extract_series *s, const figure_row *row, const char *directory,
                          int force, collet_error *err)
{
    extract_picture picture = {
        .n = s->n, .stride = s->stride, .banded = s->bodies > 1 || s->stride > 1};
    char title[160], *path;

    if (!fill_panels(s, row, &picture))
        return COLLET_OK;
    if (s->bodies > 1)
        snprintf(title, sizeof title, "%s: mean and standard deviation of %lld bodies", row->title,
                 (long long)s->bodies);
    else
        snprintf(title, sizeof title, "%s", row->title);
    picture.title = title;
    choose_times(s, &picture);
    if (asprintf(&path, "%s/%s.png", directory, row->name) < 0)
        return collet_fail(err, COLLET_NO_MEMORY, "--plot: out of memory");
    collet_status status = extract_draw(&picture, path, force, err);
    free(path);
    return status;
}

static collet_status check_figure(const extract_series *s, const figure_row *row,
                                  const char *directory, int force, collet_error *err)
{
    extract_picture picture = {0};
    char *path;

    if (!fill_panels(s, row, &picture))
        return COLLET_OK;
    if (asprintf(&path, "%s/%s.png", directory, row->name) < 0)
        return collet_fail(err, COLLET_NO_MEMORY, "--plot: out of memory");
    collet_status status = extract_draw_check(path, force, err);
    free(path);
    return status;
}

collet_status extract_plot_check(const collet_trajectory *trajectory, const char *directory,
                                 int force, collet_error *err)
{
    extract_series series;
    collet_status status = extract_series_create(&series, trajectory, err);

    for (size_t i = 0; status == COLLET_OK && i < sizeof figures / sizeof *figures; i++)
        status = check_figure(&series, &figures[i], directory, force, err);
    extract_series_free(&series);
    return status;
}

collet_status extract_plot(const extract_series *series, const char *directory, int force,
                           collet_error *err)
{
    collet_status status = COLLET_OK;

    for (size_t i = 0; status == COLLET_OK && i < sizeof figures / sizeof *figures; i++)
        status = draw(series, &figures[i], directory, force, err);
    return status;
}
