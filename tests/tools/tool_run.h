/* SPDX-License-Identifier: Apache-2.0 */
/* tool_run.h - runs a built program and captures its output. Every function fails the test instead
 * of returning an error. */
#ifndef TESTS_TOOLS_TOOL_RUN_H
#define TESTS_TOOLS_TOOL_RUN_H

#include <sys/types.h>

#include "common/contains.h"

typedef struct tool_result {
    int status; /* exit status, or 128 + signal */
    char *out;  /* standard output, terminated */
    char *err;  /* standard error, or the output to its terminal */
} tool_result;

/* Options of a run; zeros: a plain run. */
typedef struct tool_setup {
    const char *directory;       /* working directory */
    void (*prepare)(void *user); /* called in the child before the program */
    void *user;
    void (*meanwhile)(pid_t program); /* called while it runs */
    int terminal;                     /* 1: standard error is a terminal */
} tool_setup;

/*
 * Runs COLLET_TEST_BIN/name with the arguments up to NULL, args[0] being the first. `setup` may be
 * NULL. The caller frees the result with tool_free.
 */
tool_result tool_run(const char *name, const char *const *args, const tool_setup *setup);
void tool_free(tool_result *result);

/* The same, with arguments as a list: TOOL(name, "a", "b"). */
#define TOOL(name, ...) tool_run(name, (const char *const[]){__VA_ARGS__, NULL}, NULL)

/* For `prepare`: standard output is a full device. */
void tool_to_full_device(void *user);
/* Standard output is a pipe that nobody reads. */
void tool_to_closed_pipe(void *user);
/* No file may be larger than the number in a text. */
void tool_limit_files(void *bytes);
/* Standard input is a file. */
void tool_from_file(void *path);
/* Preloads a library. */
void tool_preload(void *library);
/* The program is killed as kill_at.c says, whose KILL_AT is a text. */
void tool_kill_at(void *call);

/* Fails, with the run's output, unless it ended with `status`. */
void tool_expect(const tool_result *result, int status);

#endif
