/* SPDX-License-Identifier: Apache-2.0 */
/* tool_run.h - runs a built program and captures its output. Every function fails the test instead
 * of returning an error. */
#ifndef TESTS_TOOLS_TOOL_RUN_H
#define TESTS_TOOLS_TOOL_RUN_H

#include <cjson/cJSON.h>

#include "common/test.h"

OWNS(cJSON, cJSON_Delete)
#include <sys/types.h>

typedef struct tool_result {
    int status; /* exit status, or 128 + signal */
    char *out;  /* standard output, terminated */
    char *err;  /* standard error, or the output to its terminal */
} tool_result;

/* Options of a run; all members are 0 in a plain run. */
typedef struct tool_setup {
    const char *directory;       /* working directory */
    void (*prepare)(void *user); /* called in the child before the program */
    void *user;
    void (*meanwhile)(pid_t program); /* called while it runs */
    int terminal;                     /* 1: standard error is a terminal */
} tool_setup;

/*
 * Runs COLLET_TEST_BIN/name with the arguments up to NULL, args[0] being the first. `setup` may be
 * NULL. The texts of the result are freed at the end of the program.
 */
tool_result tool_run(const char *name, const char *const *args, const tool_setup *setup);

/* tool_run without set-up, with the arguments as a list: TOOL(name, "a", "b"). */
#define TOOL(name, ...) tool_run(name, (const char *const[]){__VA_ARGS__, NULL}, NULL)

/* Functions for `prepare`. */
/* Makes standard output /dev/full: every write fails with ENOSPC. */
void tool_to_full_device(void *user);
/* Makes standard output a pipe that nobody reads. */
void tool_to_closed_pipe(void *user);
/* Limits the size of files to this number of bytes, given as a text. */
void tool_limit_files(void *bytes);
/* Makes a file the standard input. */
void tool_from_file(void *path);
/* Preloads a library. */
void tool_preload(void *library);
/* Preloads kill_at.c's library, with this text as KILL_AT. */
void tool_kill_at(void *call);

/* Fails, and prints the run's output, unless the run ended with `status`. */
void tool_expect(const tool_result *result, int status);
/* Like tool_expect; the run must also have printed each of these texts. */
#define EXPECT_OUT(result, status, ...)                                                            \
    tool_expect(&(result), status), assert_contains((result).out, __VA_ARGS__)
#define EXPECT_ERR(result, status, ...)                                                            \
    tool_expect(&(result), status), assert_contains((result).err, __VA_ARGS__)

#endif
