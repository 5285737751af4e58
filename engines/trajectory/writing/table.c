/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - results as text, one line per frame: .csv, and .xvg as programs of GROMACS write it.
 * Tests: tests/engines/test_trajectory_forms.c */
#include "table.h"

#include "io/decimal.h"
#include "io/numerals.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((int64_t)4 << 20)
#define NUMBER 32 /* bytes of a number's text */

/* ---- Text -------------------------------------------------------------------------------- */

static collet_status put(io_spool *file, collet_error *err, const char *format, ...)
    COLLET_PRINTF(3, 4);

static collet_status put(io_spool *file, collet_error *err, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t length = n < 0 ? 0 : (size_t)n;
    return io_spool_write(file, text, length < sizeof text ? length : sizeof text - 1, err);
}

/* Writes 15 digits if they read back to the same number, else 17. io_decimal_parse is exact only within the limits
 * below, so that other numbers get 17 digits. */
static size_t format_number(double value, char text[NUMBER])
{
    double size = fabs(value), back;
    int n = 0;

    if (!isfinite(value))
        return (size_t)snprintf(text, NUMBER, "%s",
                                isnan(value) ? "nan"
                                : value > 0  ? "inf"
                                             : "-inf");
    locale_t before = io_numerals_begin();
    if (size == 0 || (size > 1e-7 && size < 1e15))
        n = snprintf(text, NUMBER, "%.15g", value);
    if (n == 0 || !io_decimal_parse(text, (size_t)n, &back) || back != value)
        n = snprintf(text, NUMBER, "%.17g", value);
    io_numerals_end(before);
    return (size_t)n;
}

/* ---- Rows -------------------------------------------------------------------------------- */

/* Some rows of all arrays. */
typedef struct chunk {
    int64_t capacity;
    int64_t first; /* the number of the first row in the chunk */
    double *rows[TRAJECTORY_MAX_OUTPUTS];
} chunk;

static int is_timed(const trajectory_table *t)
{
    return t->outputs[0]->buffer == TRAJECTORY_TIME;
}

static void chunk_free(chunk *c)
{
    for (int32_t i = 0; i < TRAJECTORY_MAX_OUTPUTS; i++)
        free(c->rows[i]);
}

static collet_status chunk_create(chunk *c, const trajectory_table *t, collet_error *err)
{
    int64_t numbers = 0;

    *c = (chunk){0};
    for (int32_t i = 0; i < t->n; i++)
        numbers += trajectory_output_width(t->outputs[i], t->extent);
    c->capacity = CHUNK_BYTES / (numbers * (int64_t)sizeof(double));
    c->capacity += c->capacity == 0;
    for (int32_t i = 0; i < t->n; i++) {
        int64_t width = trajectory_output_width(t->outputs[i], t->extent);
        c->rows[i] = calloc((size_t)(c->capacity * width), sizeof(double));
        if (!c->rows[i])
            return collet_fail(err, COLLET_NO_MEMORY, "no memory for a table of results");
    }
    return COLLET_OK;
}

/* Writes the time of row k of the chunk, or the row's number if the table has no times. */
static collet_status put_start(const trajectory_table *t, const chunk *c, int64_t k, io_spool *file,
                               collet_error *err)
{
    char text[NUMBER];

    if (!is_timed(t))
        return put(file, err, "%lld", (long long)(c->first + k));
    return io_spool_write(file, text, format_number(c->rows[0][k], text), err);
}

/* Writes the numbers of a body in row k, with a separator before each. */
static collet_status put_cells(const trajectory_table *t, const chunk *c, int64_t k, int64_t body,
                               char separator, io_spool *file, collet_error *err)
{
    char line[TRAJECTORY_MAX_OUTPUTS * 9 * NUMBER], *end = line;
    int64_t row = t->extent.bodies ? k * t->extent.bodies + body : k;

    for (int32_t i = is_timed(t); i < t->n; i++) {
        int64_t width = trajectory_output_numbers(t->outputs[i]);
        for (int64_t j = 0; j < width; j++) {
            *end++ = separator;
            end += format_number(c->rows[i][row * width + j], end);
        }
    }
    return io_spool_write(file, line, (size_t)(end - line), err);
}

typedef collet_status (*row_fn)(const trajectory_table *t, const chunk *c, int64_t k,
                                io_spool *file, collet_error *err);

static collet_status put_rows(const trajectory_table *t, chunk *c, row_fn row, io_spool *file,
                              collet_error *err)
{
    int64_t rows = io_results_rows(t->results, t->arrays[0]);
    collet_status status = COLLET_OK;

    for (; status == COLLET_OK && c->first < rows; c->first += c->capacity) {
        int64_t n = rows - c->first < c->capacity ? rows - c->first : c->capacity;
        for (int32_t i = 0; status == COLLET_OK && i < t->n; i++)
            status = io_results_read(t->results, t->arrays[i], c->first, n, c->rows[i], err);
        for (int64_t k = 0; status == COLLET_OK && k < n; k++)
            status = row(t, c, k, file, err);
    }
    return status;
}

static collet_status write_table(const trajectory_table *t, row_fn row, io_spool *file,
                                 collet_error *err)
{
    chunk c;
    collet_status status = chunk_create(&c, t, err);

    if (status == COLLET_OK)
        status = put_rows(t, &c, row, file, err);
    chunk_free(&c);
    return status;
}

/* Writes "com_x (nm)"; without the unit if the unit is 1. */
static collet_status put_name(const trajectory_output *output, const char *component, char joint,
                              io_spool *file, collet_error *err)
{
    const char between[2] = {*component ? joint : '\0', '\0'};
    int with_unit = strcmp(output->unit, "1") != 0;

    return put(file, err, "%s%s%s%s%s%s", output->key, between, component, with_unit ? " (" : "",
               with_unit ? output->unit : "", with_unit ? ")" : "");
}

/* ---- .csv -------------------------------------------------------------------------------- */

/* Writes a line such as "time_ps (ps),body,com_x (nm),com_y (nm)". */
static collet_status put_names(const trajectory_table *t, io_spool *file, collet_error *err)
{
    collet_status status =
        is_timed(t) ? put_name(t->outputs[0], "", '_', file, err) : put(file, err, "row");

    if (status == COLLET_OK && t->extent.bodies)
        status = put(file, err, ",body");
    for (int32_t i = is_timed(t); i < t->n; i++) {
        const char *const *components = trajectory_output_components(t->outputs[i]);
        int64_t width = trajectory_output_numbers(t->outputs[i]);

        for (int64_t j = 0; status == COLLET_OK && j < width; j++) {
            status = put(file, err, ",");
            if (status == COLLET_OK)
                status = put_name(t->outputs[i], components[j], '_', file, err);
        }
    }
    return status == COLLET_OK ? put(file, err, "\n") : status;
}

/* Writes a label. If the label has characters with a meaning in .csv, writes it in quotes, and doubles quotes in the
 * label. */
static collet_status put_label(const char *label, io_spool *file, collet_error *err)
{
    collet_status status = COLLET_OK;

    if (!strpbrk(label, ",\"\r\n"))
        return put(file, err, ",%s", label);
    status = put(file, err, ",\"");
    for (const char *at = label; status == COLLET_OK && *at; at++)
        status = put(file, err, *at == '"' ? "\"\"" : "%c", *at);
    return status == COLLET_OK ? put(file, err, "\"") : status;
}

static collet_status put_csv_row(const trajectory_table *t, const chunk *c, int64_t k,
                                 io_spool *file, collet_error *err)
{
    collet_status status = COLLET_OK;

    for (int64_t b = 0; status == COLLET_OK && b < (t->extent.bodies ? t->extent.bodies : 1); b++) {
        status = put_start(t, c, k, file, err);
        if (status == COLLET_OK && t->extent.bodies)
            status = put_label(t->labels.texts[b], file, err);
        if (status == COLLET_OK)
            status = put_cells(t, c, k, b, ',', file, err);
        if (status == COLLET_OK)
            status = put(file, err, "\n");
    }
    return status;
}

collet_status trajectory_csv_write(const trajectory_table *table, io_spool *file, collet_error *err)
{
    collet_status status = put_names(table, file, err);

    return status == COLLET_OK ? write_table(table, put_csv_row, file, err) : status;
}

/* ---- .xvg -------------------------------------------------------------------------------- */

/* Writes the label of the y axis: the key if there is only one quantity, and the unit if all quantities have the same
 * unit. */
static collet_status put_y_label(const trajectory_table *t, io_spool *file, collet_error *err)
{
    int32_t first = is_timed(t);
    const char *key = first + 1 == t->n ? t->outputs[first]->key : "";
    const char *unit = first < t->n ? t->outputs[first]->unit : "";

    for (int32_t i = first; i < t->n; i++)
        if (strcmp(t->outputs[i]->unit, unit) != 0)
            unit = "";
    return put(file, err, "@    yaxis  label \"%s%s%s%s%s\"\n", key, *key && *unit ? " " : "",
               *unit ? "(" : "", unit, *unit ? ")" : "");
}

/* Writes a text without the characters that would end a text of xmgrace or begin a code in the text. */
static collet_status put_plain(const char *text, io_spool *file, collet_error *err)
{
    char plain[128];
    size_t n = 0;

    for (const char *at = text; *at && n + 1 < sizeof plain; at++)
        if (*at != '"' && *at != '\\' && (unsigned char)*at >= ' ')
            plain[n++] = *at;
    return io_spool_write(file, plain, n, err);
}

static collet_status put_legend(const trajectory_table *t, int64_t set, int64_t body, int32_t i,
                                const char *component, io_spool *file, collet_error *err)
{
    collet_status status = put(file, err, "@ s%lld legend \"", (long long)set);

    if (status == COLLET_OK && t->extent.bodies)
        status = put_plain(t->labels.texts[body], file, err);
    if (status == COLLET_OK && t->extent.bodies)
        status = put(file, err, " ");
    if (status == COLLET_OK)
        status = put_name(t->outputs[i], component, ' ', file, err);
    return status == COLLET_OK ? put(file, err, "\"\n") : status;
}

static collet_status put_legends(const trajectory_table *t, io_spool *file, collet_error *err)
{
    int64_t set = 0;
    collet_status status =
        put(file, err,
            "@TYPE xy\n@ view 0.15, 0.15, 0.75, 0.85\n@ legend on\n@ legend box on\n"
            "@ legend loctype view\n@ legend 0.78, 0.8\n@ legend length 2\n");

    for (int64_t b = 0; b < (t->extent.bodies ? t->extent.bodies : 1); b++)
        for (int32_t i = is_timed(t); i < t->n; i++) {
            const char *const *components = trajectory_output_components(t->outputs[i]);
            int64_t width = trajectory_output_numbers(t->outputs[i]);

            for (int64_t j = 0; status == COLLET_OK && j < width; j++)
                status = put_legend(t, set++, b, i, components[j], file, err);
        }
    return status;
}

static collet_status put_xvg_head(const trajectory_table *t, io_spool *file, collet_error *err)
{
    collet_status status =
        put(file, err, "# Created by libcollet-trajectory %s\n@    title \"", collet_version());

    if (status == COLLET_OK)
        status = put_plain(t->title, file, err);
    if (status == COLLET_OK)
        status =
            put(file, err, "\"\n@    xaxis  label \"%s\"\n", is_timed(t) ? "Time (ps)" : "Row");
    if (status == COLLET_OK)
        status = put_y_label(t, file, err);
    return status == COLLET_OK ? put_legends(t, file, err) : status;
}

static collet_status put_xvg_row(const trajectory_table *t, const chunk *c, int64_t k,
                                 io_spool *file, collet_error *err)
{
    collet_status status = put_start(t, c, k, file, err);

    for (int64_t b = 0; status == COLLET_OK && b < (t->extent.bodies ? t->extent.bodies : 1); b++)
        status = put_cells(t, c, k, b, ' ', file, err);
    return status == COLLET_OK ? put(file, err, "\n") : status;
}

collet_status trajectory_xvg_write(const trajectory_table *table, io_spool *file, collet_error *err)
{
    collet_status status = put_xvg_head(table, file, err);

    return status == COLLET_OK ? write_table(table, put_xvg_row, file, err) : status;
}
