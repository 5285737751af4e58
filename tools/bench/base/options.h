/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of backend-bench. */
#pragma once

#include "common/exit.h"

#include <collet/collet.h>

struct bench_session;

#define BENCH_DEFAULTS_MAX 8 /* of --setting too */
#define BENCH_LIST_MAX 16    /* items of --backend and of --dtype */

/* A mode of backend-bench other than measuring one op: `backend-bench NAME`. */
typedef struct bench_mode {
    const char *name;
    const char *summary; /* its line in the help */
    int32_t no_backend;  /* 1: it needs no backend */
    int32_t takes_names; /* 1: arguments are names of backends and ops; it has --dry-run */
    const char *options; /* names of the options that it uses: "shape threads" */
    double seconds;      /* default of --seconds; 0: the usual default */
    /* Measures, and prints a table or fills the report. Returns an exit status. */
    int (*run)(struct bench_session *session);
} bench_mode;

typedef struct bench_options {
    int argc;
    char **command;                 /* copy of argv, for free(); NULL when out of memory */
    const bench_mode *const *modes; /* all modes, ended by NULL */
    const bench_mode *mode;         /* NULL: `what` names an op's case; with --list `what` is NULL */
    const char *what;
    const char *shape;                 /* NULL: the case's own */
    const char *axis;                  /* NULL: the case's own */
    const char *cases[BENCH_LIST_MAX]; /* arguments of a mode with takes_names */
    int32_t case_count;                /* 0: all cases */
    const char *dtypes[BENCH_LIST_MAX];
    int32_t dtype_count; /* 0: the case's own */
    const char *backends[BENCH_LIST_MAX];
    int32_t backend_count;                        /* 0: every usable one */
    const char *defaults[BENCH_DEFAULTS_MAX + 1]; /* "key=value" of --default, then NULL */
    const char *settings[BENCH_DEFAULTS_MAX + 1]; /* of --setting */
    int64_t threads;                              /* 0: all that are allowed */
    double seconds;                               /* time of sampling for one row of the report */
    int32_t busy;                                 /* number of busy processes; 0: none */
    int32_t steal, json, list, dry_run, check;
    uint32_t given; /* one bit for each option that the command line has */
} bench_options;

/* Reads the command line. Exits with TOOL_EXIT_USAGE if it is wrong, and with 0 after --help and --version. Splits lists
 * at their commas, in argv itself. */
void bench_options_parse(int argc, char **argv, const bench_mode *const *modes,
                         bench_options *options);
