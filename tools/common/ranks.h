/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ranks.h - a program that a launcher of MPI started several times, to work on one result.
 *
 * Each rank does parts of the work into files; then rank 0 makes the result of them. A rank that
 * cannot go on ends the job (tool_ranks_fail); only rank 0 shows progress and prints a summary.
 */
#ifndef TOOLS_COMMON_RANKS_H
#define TOOLS_COMMON_RANKS_H

#include "devices.h"

#include <collet/collet.h>
#include <stddef.h>

/* What rank 0 adds where files are missing though every rank has written its own. */
#define TOOL_RANKS_APART                                                                           \
    "other ranks wrote theirs, perhaps in other directories: start all ranks in one directory that " \
    "they share, or give absolute paths"

typedef struct tool_ranks {
    struct ranks *ranks; /* NULL: the program works alone, as rank 0 of 1 */
    const char *program;
    int64_t rank, size;
    tool_place place; /* among the ranks of this host */
} tool_ranks;

/* Joins the ranks of the job, if there are any. 0 with a message where they cannot be joined, or
 * where their command lines differ, so that they are not one job. The name is not copied. */
int tool_ranks_open(tool_ranks *t, const char *program, int argc, char **argv);

/* Waits for all ranks; sets *largest to the largest `mine`. CANCELLED after a signal. */
collet_status tool_ranks_agree(tool_ranks *t, int64_t mine, int64_t *largest, collet_error *err);

/* CPU threads for this rank: its share of the host's processors; 0: as the program chooses, alone or
 * where the environment has COLLET_NUM_THREADS. */
int64_t tool_ranks_threads(const tool_ranks *t);

/*
 * Sets `own` to the choice of backend for this rank: ranks of a host divide the devices of the
 * backend to which `choice` leads (NULL: the setting), or begin with different entries of a list of
 * devices. "": the choice needs no change. UNKNOWN_BACKEND, UNAVAILABLE.
 */
collet_status tool_ranks_backend(const tool_ranks *t, const char *choice, char *own, size_t size,
                                 collet_error *err);

/* One line: "4 ranks, 2 of them here with 8 threads each (Open MPI v4.1.4)", "1 process"; threads 0:
 * not told. */
void tool_ranks_describe(const tool_ranks *t, int64_t threads, char *text, size_t size);

/* Prints "PROGRAM: rank 3 (host): TEXT" and ends the job with the status; alone "PROGRAM: TEXT".
 * Returns the status. NULL: another rank has the same message; it has some seconds to print it. */
int tool_ranks_fail(const tool_ranks *t, const char *text, int status);

/* All ranks call it at the end. */
void tool_ranks_close(tool_ranks *t);

#endif
