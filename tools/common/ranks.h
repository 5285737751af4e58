/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - programs that an MPI launcher starts several times to work on one result.
 *
 * Each rank does parts of the work and writes them to files; then rank 0 makes the result from these
 * files. A rank that cannot go on ends the job (tool_ranks_fail). Only rank 0 shows progress and
 * prints a summary.
 */
#pragma once

#include "devices.h"

#include <collet/collet.h>
#include <stddef.h>

/* Rank 0 adds this text to its message if files are missing although every rank has written its own. */
#define TOOL_RANKS_APART                                                                           \
    "other ranks wrote theirs, perhaps in other directories: start all ranks in one directory that " \
    "they share, or give absolute paths"

typedef struct tool_ranks {
    struct ranks *ranks; /* NULL: the program works alone, as rank 0 of 1 */
    const char *program;
    int64_t rank, size;
    tool_place place; /* this rank's place among the ranks of this host */
} tool_ranks;

/* Joins the ranks of the job, if there are any. Prints a message and returns 0 if they cannot be
 * joined, or if their command lines differ. The name of the program is not copied. */
int tool_ranks_open(tool_ranks *t, const char *program, int argc, char **argv);

/* Waits for all ranks and sets *largest to the largest `mine`. CANCELLED after a signal. */
collet_status tool_ranks_agree(tool_ranks *t, int64_t mine, int64_t *largest, collet_error *err);

/* Returns the number of CPU threads for this rank: its share of the host's processors. 0 if the
 * program chooses the number: it works alone, or the environment has COLLET_NUM_THREADS. */
int64_t tool_ranks_threads(const tool_ranks *t);

/* Sets `own` to the choice of backend for this rank. The ranks of a host divide the devices of the
 * backend that `choice` selects (NULL: the setting), or begin with different entries of a list of
 * devices. `own` becomes "" if the choice needs no change. UNKNOWN_BACKEND, UNAVAILABLE. */
collet_status tool_ranks_backend(const tool_ranks *t, const char *choice, char *own, size_t size,
                                 collet_error *err);

/* Writes one line: "4 ranks, 2 of them here with 8 threads each (Open MPI v4.1.4)" or "1 process".
 * If `threads` is 0, the line does not name the threads. */
void tool_ranks_describe(const tool_ranks *t, int64_t threads, char *text, size_t size);

/* Prints "PROGRAM: rank 3 (host): TEXT" and ends the job with the status. A program that works alone
 * prints "PROGRAM: TEXT", and the function returns the status. If `text` is NULL, another rank has
 * the same message, and the function gives that rank some seconds to print it. */
int tool_ranks_fail(const tool_ranks *t, const char *text, int status);

/* Leaves the job; all ranks call it at the end. */
void tool_ranks_close(tool_ranks *t);
