/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_extract_plot.c */
#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static collet_trajectory_quantity quantity_at(const extract_series *s, size_t i)
{
    collet_trajectory_quantity q = {.struct_size = sizeof q};

    collet_trajectory_quantity_at(s->trajectory, &q, i, NULL);
    return q;
}

/* Returns how many numbers of a quantity each body has. Times have no bodies; positions and boxes are not drawn (0). */
static int32_t numbers_of(const extract_series *s, const collet_trajectory_quantity *q)
{
    if (strcmp(q->key, "positions") == 0 || strcmp(q->key, "box") == 0)
        return 0;
    return strcmp(q->key, "time_ps") == 0 ? 1 : (int32_t)(q->width / s->bodies);
}

static void add_lines(extract_series *s, const collet_trajectory_quantity *q)
{
    for (int32_t j = 0; j < numbers_of(s, q); j++)
        s->lines[s->n_lines++] =
            (extract_line){.key = q->key, .unit = q->unit, .component = q->components[j]};
}

collet_status extract_series_create(extract_series *s, const collet_trajectory *trajectory,
                                    collet_error *err)
{
    size_t count = collet_trajectory_quantity_count();
    collet_trajectory_info info = {.struct_size = sizeof info};
    int failed;

    collet_trajectory_get_info(trajectory, &info);
    *s = (extract_series){
        .trajectory = trajectory, .bodies = info.bodies > 0 ? info.bodies : 1, .stride = 1};
    s->lines = calloc(9 * count, sizeof *s->lines);
    s->values = calloc(9 * count, 2 * sizeof *s->values);
    failed = !s->lines || !s->values;
    for (size_t i = 0; !failed && i < count; i++) {
        collet_trajectory_quantity q = quantity_at(s, i);
        if (q.left_out == NULL || (strcmp(q.key, "time_ps") == 0 && info.has_times)) /* collet_trajectory_watch */
            add_lines(s, &q);
    }
    for (int32_t i = 0; !failed && i < s->n_lines; i++) {
        s->lines[i].middle = calloc(3 * EXTRACT_POINTS, sizeof(double));
        failed = !s->lines[i].middle;
        s->lines[i].low = failed ? NULL : s->lines[i].middle + EXTRACT_POINTS;
        s->lines[i].high = failed ? NULL : s->lines[i].low + EXTRACT_POINTS;
    }
    return failed ? collet_fail(err, COLLET_NO_MEMORY, "--plot: out of memory") : COLLET_OK;
}

void extract_series_free(extract_series *s)
{
    for (int32_t i = 0; s->lines && i < s->n_lines; i++)
        free(s->lines[i].middle);
    free(s->lines);
    free(s->values);
}

/* Joins each two points. */
static void halve(extract_series *s)
{
    for (int32_t i = 0; i < s->n_lines; i++) {
        extract_line *line = &s->lines[i];
        for (int64_t p = 0; p < s->n / 2; p++) {
            line->middle[p] = (line->middle[2 * p] + line->middle[2 * p + 1]) / 2;
            line->low[p] = fmin(line->low[2 * p], line->low[2 * p + 1]);
            line->high[p] = fmax(line->high[2 * p], line->high[2 * p + 1]);
        }
    }
    s->n /= 2;
    s->stride *= 2;
}

/* Adds a frame's values to point n. */
static void add_frame(extract_series *s)
{
    if (s->n == EXTRACT_POINTS)
        halve(s);
    for (int32_t i = 0; i < s->n_lines; i++) {
        extract_line *line = &s->lines[i];
        double mean = s->values[2 * i], spread = s->values[2 * i + 1];
        int first = s->frames == 0;
        line->middle[s->n] = first ? mean : line->middle[s->n] + mean;
        line->low[s->n] = first ? mean - spread : fmin(line->low[s->n], mean - spread);
        line->high[s->n] = first ? mean + spread : fmax(line->high[s->n], mean + spread);
    }
    if (++s->frames == s->stride)
        extract_series_end(s);
}

void extract_series_end(extract_series *s)
{
    if (s->frames == 0)
        return;
    for (int32_t i = 0; i < s->n_lines; i++)
        s->lines[i].middle[s->n] /= (double)s->frames;
    s->frames = 0;
    s->n++;
}

/* Computes the mean and the standard deviation of a number over all bodies in a row. */
static void reduce(const double *row, int64_t bodies, int32_t width, double out[2])
{
    double sum = 0, squares = 0;

    for (int64_t b = 0; b < bodies; b++)
        sum += row[b * width];
    out[0] = sum / (double)bodies;
    for (int64_t b = 0; b < bodies; b++)
        squares += (row[b * width] - out[0]) * (row[b * width] - out[0]);
    out[1] = sqrt(squares / (double)bodies);
}

collet_status extract_series_take(void *series, const collet_trajectory_batch *batch,
                                  collet_error *err)
{
    extract_series *s = series;

    (void)err;
    for (int64_t k = 0; k < batch->n_rows; k++) {
        int32_t line = 0;
        for (size_t i = 0; i < collet_trajectory_quantity_count(); i++) {
            collet_trajectory_quantity q = quantity_at(s, i);
            int32_t n = numbers_of(s, &q);
            if (batch->columns[i] == NULL || line == s->n_lines || strcmp(s->lines[line].key, q.key) != 0)
                continue; /* an .npz has arrays that `trajectory` did not announce */
            for (int32_t j = 0; j < n; j++, line++)
                reduce(batch->columns[i] + k * q.width + j, q.width / n, n, &s->values[2 * line]);
        }
        add_frame(s);
    }
    return COLLET_OK;
}
