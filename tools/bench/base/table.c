/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_studies.c */
#include "table.h"

#include "common/json_add.h"
#include "common/output.h"
#include "common/size.h"
#include "io/json/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 0.05 /* smaller changes of the median are not reported, whatever the noise */

/* Columns that --against adds. */
static const bench_column added[] = {
    {"baseline", "baseline", BENCH_TIME},
    {"change", "change", BENCH_SHARE},
    {"verdict", "verdict", BENCH_TEXT},
};
#define ADDED 3

const char *bench_time_text(double seconds, char text[16])
{
    if (seconds < 1e-6)
        snprintf(text, 16, "%.1f ns", 1e9 * seconds);
    else if (seconds < 1e-3)
        snprintf(text, 16, "%.2f us", 1e6 * seconds);
    else if (seconds < 1)
        snprintf(text, 16, "%.3f ms", 1e3 * seconds);
    else
        snprintf(text, 16, "%.3f s", seconds);
    return text;
}

/* ---- The earlier report ------------------------------------------------------------------ */

static char *read_file(const char *path, collet_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        collet_fail(err, COLLET_IO, "--against %s: %s", path, strerror(errno));
        return NULL;
    }
    ssize_t length = getdelim(&text, &size, '\0', file);
    if (length < 0)
        collet_fail(err, COLLET_IO, "--against %s: %s", path,
                    ferror(file) ? strerror(errno) : "it is empty");
    fclose(file);
    if (length >= 0)
        return text;
    free(text);
    return NULL;
}

static const io_json_field an_object = {.type = IO_JSON_OBJECT};
static const io_json_field of_report[] = {
    {.name = "mode", .type = IO_JSON_TEXT},
    {.name = "host", .type = IO_JSON_OBJECT},
    {.name = "results", .type = IO_JSON_LIST, .high = INT32_MAX, .fields = &an_object}};

static collet_status read_known(bench_table *t, const char *path, collet_error *err)
{
    const bench_session *s = t->session;
    char source[128];
    char *text = read_file(path, err);
    if (!text)
        return COLLET_IO;
    snprintf(source, sizeof source, "--against %.110s", path);
    collet_status status = io_json_parse(source, text, strlen(text), &t->report, err);
    free(text);
    if (status == COLLET_OK)
        status = io_json_check(source, "", t->report, IO_JSON_ROWS(of_report), err);
    if (status != COLLET_OK)
        return status;
    t->known = cJSON_GetObjectItemCaseSensitive(t->report, "results");
    if (strcmp(io_json_text(t->report, "mode"), s->options->what) != 0)
        return collet_fail(err, COLLET_INVALID,
                           "--against %s: it is not a report of 'backend-bench %s --json'", path,
                           s->options->what);
    const cJSON *host = cJSON_GetObjectItemCaseSensitive(t->report, "host");
    const char *cpu = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(host, "cpu"));
    if (cpu && strcmp(cpu, s->machine.cpu))
        fprintf(stderr, "backend-bench: --against %s: it was measured on another processor, %s\n",
                path, tool_shown(cpu));
    return COLLET_OK;
}

/* The earlier result with the same keys; NULL: none. */
static const cJSON *find_known(const bench_table *t, const bench_cell *cells)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, t->known)
    {
        int32_t same = 1;
        for (int32_t i = 0; i < t->count && same; i++) {
            const char *text =
                cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(row, t->columns[i].key));
            same = t->columns[i].kind != BENCH_KEY || (text && !strcmp(text, cells[i].text));
        }
        if (same)
            return row;
    }
    return NULL;
}

static double own(const bench_table *t, const bench_cell *cells, const char *key)
{
    for (int32_t i = 0; i < t->count; i++)
        if (!strcmp(t->columns[i].key, key))
            return cells[i].number;
    return NAN;
}

/* Slower or faster: the medians of all rounds of one run are beyond those of the other. */
static void judge(bench_table *t, const bench_cell *cells, bench_cell *out)
{
    const cJSON *before = find_known(t, cells);
    double median = own(t, cells, "median");
    const char *names[] = {"median", "low", "high"};
    double old[3];
    for (int i = 0; i < 3; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(before, names[i]);
        old[i] = cJSON_IsNumber(value) ? value->valuedouble : NAN;
    }
    double change = median / old[0] - 1;
    const char *verdict = isnan(change)                                           ? "new"
                          : change > TOLERANCE && own(t, cells, "low") > old[2]   ? "slower"
                          : change < -TOLERANCE && own(t, cells, "high") < old[1] ? "faster"
                                                                                  : "same";
    t->regressions += !strcmp(verdict, "slower");
    out[0].number = old[0];
    out[1].number = change;
    out[2].text = verdict;
}

/* ---- Printing ---------------------------------------------------------------------------- */

static const bench_column *column_at(const bench_table *t, int32_t i)
{
    return i < t->count ? &t->columns[i] : &added[i - t->count];
}

static int is_text(const bench_column *c)
{
    return c->kind == BENCH_KEY || c->kind == BENCH_TEXT;
}

static int width(const bench_column *c)
{
    return c->kind == BENCH_KEY ? -16 : c->kind == BENCH_TEXT ? -9 : 10;
}

static void print_cell(const bench_column *c, const bench_cell *cell)
{
    char text[TOOL_SIZE_TEXT];
    if (is_text(c))
        printf("%*s ", width(c), cell->text);
    else if (isnan(cell->number))
        printf("%*s ", width(c), "-");
    else if (c->kind == BENCH_TIME)
        printf("%*s ", width(c), bench_time_text(cell->number, text));
    else if (c->kind == BENCH_BYTES)
        printf("%*s ", width(c), tool_size_format(text, cell->number));
    else if (c->kind == BENCH_SHARE)
        printf("%*.1f %% ", width(c) - 2, 100 * cell->number);
    else
        printf("%*.4g ", width(c), cell->number);
}

/* CSV of RFC 4180. Texts have no quotes or commas but names of backends may have. */
static void print_csv(const bench_column *c, const bench_cell *cell, int32_t first)
{
    if (!first)
        putchar(',');
    if (!is_text(c)) {
        if (!isnan(cell->number))
            printf("%.9g", cell->number);
        return;
    }
    const char *text = tool_shown(cell->text);
    int quoted = strpbrk(text, ",\"") != NULL;
    if (quoted)
        putchar('"');
    for (; *text; text++)
        printf(*text == '"' ? "\"%c" : "%c", *text);
    if (quoted)
        putchar('"');
}

static int32_t add_cell(cJSON *row, const bench_column *c, const bench_cell *cell)
{
    if (is_text(c))
        return json_add_text(row, c->key, cell->text);
    return isnan(cell->number) ? json_add_null(row, c->key)
                               : json_add_number(row, c->key, cell->number);
}

static void print_head(const bench_table *t, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        const bench_column *c = column_at(t, i);
        if (t->session->options->csv)
            printf("%s%s", i ? "," : "", c->key);
        else if (c->title)
            printf("%*s ", width(c), c->title);
    }
    printf("%s\n", t->session->options->csv ? "\r" : "");
}

static void put_row(bench_table *t, const bench_cell *cells, int32_t count)
{
    int csv = t->session->options->csv;
    cJSON *row = t->list ? json_append_object(t->list) : NULL;
    if (!t->list && !t->rows)
        print_head(t, count);
    for (int32_t i = 0; i < count; i++) {
        const bench_column *c = column_at(t, i);
        if (t->list)
            t->out_of_memory |= !row || !add_cell(row, c, &cells[i]);
        else if (csv)
            print_csv(c, &cells[i], !i);
        else if (c->title)
            print_cell(c, &cells[i]);
    }
    if (!t->list)
        printf("%s\n", csv ? "\r" : "");
    fflush(stdout); /* finished rows are seen when the program is stopped */
    t->rows++;
}

/* ---- The table --------------------------------------------------------------------------- */

collet_status bench_table_open(bench_table *t, bench_session *s, const bench_column *columns,
                               int32_t count, collet_error *err)
{
    *t = (bench_table){.session = s, .columns = columns, .count = count};
    if (s->report && !(t->list = cJSON_AddArrayToObject(s->report, "results")))
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the report");
    collet_status status =
        s->options->against ? read_known(t, s->options->against, err) : COLLET_OK;
    if (status != COLLET_OK)
        cJSON_Delete(t->report);
    return status;
}

void bench_table_add(bench_table *t, const bench_cell *cells)
{
    bench_cell all[BENCH_COLUMNS_MAX + ADDED] = {{NULL, 0}};
    int32_t count = t->count;
    memcpy(all, cells, (size_t)count * sizeof *all);
    if (t->known) {
        judge(t, cells, all + count);
        count += ADDED;
    }
    tool_progress_end(&t->session->progress);
    put_row(t, all, count);
}

int bench_table_close(bench_table *t, int result)
{
    if (t->regressions) {
        fprintf(stderr,
                "backend-bench: %d row%s slower than in %s: by more than %.0f %%, and in every "
                "round\n",
                (int)t->regressions, t->regressions == 1 ? " is" : "s are",
                tool_shown(t->session->options->against), 100 * TOLERANCE);
        result = result == BENCH_EXIT_OK ? BENCH_EXIT_FAILURE : result;
    }
    cJSON_Delete(t->report);
    return t->out_of_memory ? bench_out_of_memory() : result;
}
