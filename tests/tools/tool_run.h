/* SPDX-License-Identifier: Apache-2.0 */
/* tool_run.h - runs a built program and catches what it says. Every function fails the test instead
 * of returning an error. */
#ifndef TOOL_RUN_H
#define TOOL_RUN_H

#include <sys/types.h>

typedef struct tool_result {
    int status; /* exit status, or 128 + signal */
    char *out;  /* standard output, terminated */
    char *err;  /* standard error, or what a terminal in its place got */
} tool_result;

/* What a run may ask for; zeros are a plain run. */
typedef struct tool_setup {
    const char *directory;       /* to run in */
    void (*prepare)(void *user); /* called in the child before the program */
    void *user;
    void (*meanwhile)(pid_t program); /* called while it runs */
    int terminal;                     /* 1: standard error is a terminal */
} tool_setup;

/*
 * Runs COLLET_TEST_BIN/name with the arguments up to NULL, args[0] being the first. `setup` may be
 * NULL. The result is freed with tool_free.
 */
tool_result tool_run(const char *name, const char *const *args, const tool_setup *setup);
void tool_free(tool_result *result);

/* The same, with arguments as a list: TOOL(name, "a", "b"). */
#define TOOL(name, ...) tool_run(name, (const char *const[]){__VA_ARGS__, NULL}, NULL)

/* For `prepare`: what the program prints finds no space. */
void tool_to_full_device(void *user);

/* Fails unless the run ended with `status`, showing what it said. */
void tool_expect(const tool_result *result, int status);

#endif
