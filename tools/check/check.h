/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - the parts of backend-check: a worker process runs the conformance kit (conformance/); a supervisor starts
 * workers and survives crashes of the plugin; reports print the results. */
#pragma once

#include <stdio.h>

#include "common/exit.h"
#include "kit.h"

#define CHECK_MAX_ROWS 4096

/* After this many calls that do not return, the remaining rows are not run. */
#define CHECK_HANGS 3

typedef struct check_options {
    const char *target; /* a plugin file or a backend's name */
    const char *op, *sig;
    const char *layer; /* NULL: as in the settings */
    int only;          /* number of the only case to run, -1: all */
    int timeout;       /* longest time of a case in seconds, 0: no limit */
    int limit;         /* longest time of the whole run in seconds, 0: no limit */
    int large;         /* number of cases with several megabytes for each row, -1: all */
    int rows;          /* number of signatures of each op, -1: all */
    uint64_t seed;
    bool sample, json, list, in_process;
    bool timed; /* --timeout or --limit was given */
    bool verbs; /* only check the plugin's slots (functions), no kernels */
} check_options;

enum { CHECK_ROW_WAITING, CHECK_ROW_PASS, CHECK_ROW_FAIL, CHECK_ROW_SKIP };

typedef struct check_row {
    char op[COLLET_MAX_NAME], sig[KIT_SIG]; /* for a check of slots: name of the check, and "" */
    int32_t device;
    int32_t state; /* written last, when the other members are complete */
    kit_result result;
    char why[KIT_TEXT]; /* reason of a FAIL or SKIP */
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

/* Memory that supervisor and worker share. The worker writes; the supervisor reads, and marks the row during which a
 * worker crashed or was killed. */
typedef struct check_shared {
    int32_t phase;
    int32_t row_count;
    int32_t row;         /* row that is running, -1 before the first */
    int32_t number;      /* number of the case that is running, -1 between cases */
    char text[KIT_TEXT]; /* text of that case */
    char backend[COLLET_MAX_NAME], version[COLLET_MAX_NAME], path[512];
    char called[2 * COLLET_MAX_NAME]; /* name that collet_last_backend returns: "worker:cuda" */
    char reason[KIT_TEXT];            /* why the target cannot be checked */
    check_row rows[CHECK_MAX_ROWS];
} check_shared;

/* Descriptors of a worker. */
typedef struct check_files {
    int pipe;       /* gets a byte when a case begins and when a row ends; -1: none */
    int output;     /* file to which stdout and stderr are redirected; -1: not redirected */
    FILE *messages; /* for messages of libcore and the plugin */
} check_files;

/* Opens the target and runs its rows from `first` on. */
void check_work(const check_options *options, check_shared *shared, int32_t first,
                const check_files *files);

/* Runs workers until every row has a result; reports each row when it ends. Returns the exit status. */
int check_supervise(const check_options *options);

/* Reports (in report.c): text on stdout, or JSON if options->json is set. */
void check_report_begin(const check_options *options, const check_shared *shared);
void check_report_row(const check_options *options, const check_row *row);
void check_report_end(const check_options *options, const check_shared *shared, int status,
                      double seconds);
void check_list(const check_options *options);
