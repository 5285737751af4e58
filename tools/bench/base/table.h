/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of results, printed row by row as text or CSV, or added to the JSON report, and compared
 * with an earlier JSON report of the same mode (--against).
 */
#ifndef TOOLS_BENCH_BASE_TABLE_H
#define TOOLS_BENCH_BASE_TABLE_H

#include "session.h"

typedef enum bench_kind {
    BENCH_KEY,   /* a text that tells rows apart */
    BENCH_TEXT,  /* another text */
    BENCH_TIME,  /* seconds */
    BENCH_VALUE, /* a number; NaN: unknown */
    BENCH_BYTES,
    BENCH_SHARE, /* a number, printed as a percentage */
} bench_kind;

typedef struct bench_column {
    const char *key;   /* in JSON and CSV */
    const char *title; /* in text; NULL: not shown there */
    bench_kind kind;
} bench_column;

typedef struct bench_cell {
    const char *text;
    double number;
} bench_cell;

#define BENCH_COLUMNS_MAX 32

typedef struct bench_table {
    bench_session *session;
    const bench_column *columns; /* "median", "low" and "high" are times if they exist */
    int32_t count, rows;
    cJSON *list;           /* in the report; or NULL */
    cJSON *report, *known; /* of --against, and its results; or NULL */
    int32_t regressions;
    int32_t out_of_memory;
} bench_table;

/* Reads the report of --against. INVALID: it is not one of this mode; IO; NO_MEMORY. */
collet_status bench_table_open(bench_table *t, bench_session *session, const bench_column *columns,
                               int32_t count, collet_error *err);
/* `cells` in the order of the columns. */
void bench_table_add(bench_table *t, const bench_cell *cells);
/* Prints the regressions on standard error and closes the table. Returns `result`, or
 * BENCH_EXIT_FAILURE if there are regressions or the memory did not suffice. */
int bench_table_close(bench_table *t, int result);

/* A time in ns, us, ms or s; at most 15 characters. Returns `text`. */
const char *bench_time_text(double seconds, char text[16]);

#endif
