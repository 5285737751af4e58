/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h - the parts of backend-check: a supervisor, which runs the kit in a child process and
 * survives crashes of the plugin, and the reports.
 */
#ifndef TOOLS_CHECK_CHECK_H
#define TOOLS_CHECK_CHECK_H

#include <stdio.h>

#include "common/exit.h"
#include "kit.h"

#define CHECK_MAX_ROWS 4096

/* Number of calls that do not return after which the remaining rows are not run. */
#define CHECK_HANGS 3

typedef struct check_options {
    const char *target; /* a file or a backend's name */
    const char *op, *sig;
    const char *layer; /* NULL: as the setting */
    int only;          /* case, -1: all */
    int timeout;       /* seconds one case may take, 0: any time */
    int limit;         /* seconds all may take, 0: any time */
    int large;         /* cases of several megabytes of a row, -1: all */
    int rows;          /* signatures of an op, -1: all */
    uint64_t seed;
    bool sample, json, list, in_process;
    bool timed; /* --timeout or --limit was given */
    bool verbs; /* only checks of slots */
} check_options;

enum { CHECK_ROW_WAITING, CHECK_ROW_PASS, CHECK_ROW_FAIL, CHECK_ROW_SKIP };

typedef struct check_row {
    char op[COLLET_MAX_NAME], sig[KIT_SIG]; /* for a check of slots: its name, and "" */
    int32_t device;
    int32_t state; /* written last */
    kit_result result;
    char why[KIT_TEXT]; /* of a FAIL or SKIP */
} check_row;

/* CHECK_AGAIN: a check of slots failed, and the next row runs in a new process. CHECK_STOPPED: time
 * is up, and rows are still waiting. */
enum {
    CHECK_LOADING,
    CHECK_RUNNING,
    CHECK_AGAIN,
    CHECK_DONE,
    CHECK_STOPPED,
    CHECK_REFUSED,
    CHECK_NO_DEVICE,
    CHECK_NOTHING
};

/* Memory that both processes share. The worker writes; the supervisor reads, and marks a row during
 * which the worker was lost. */
typedef struct check_shared {
    int32_t phase;
    int32_t row_count;
    int32_t row;         /* being run, -1 before the first */
    int32_t number;      /* of the case being run, -1 between cases */
    char text[KIT_TEXT]; /* the text of that case */
    char backend[COLLET_MAX_NAME], version[COLLET_MAX_NAME], path[512];
    char called[2 * COLLET_MAX_NAME]; /* as collet_last_backend gives it: "worker:cuda" */
    char reason[KIT_TEXT];            /* why it cannot be checked */
    check_row rows[CHECK_MAX_ROWS];
} check_shared;

/* Descriptors of a worker. */
typedef struct check_files {
    int pipe;       /* gets a byte for each case begun and each row ended; -1: none */
    int output;     /* the file that stdout and stderr are; -1: they are not redirected */
    FILE *messages; /* of libcore and the plugin */
} check_files;

/* Opens the target and runs its rows from `first` on. */
void check_work(const check_options *options, check_shared *shared, int32_t first,
                const check_files *files);

/* Runs workers until every row is judged; rows are reported as they end. Returns the exit status.
 */
int check_supervise(const check_options *options);

/* report.c: text or JSON on stdout, by options->json. */
void check_report_begin(const check_options *options, const check_shared *shared);
void check_report_row(const check_options *options, const check_row *row);
void check_report_end(const check_options *options, const check_shared *shared, int status,
                      double seconds);
void check_list(const check_options *options);

#endif
