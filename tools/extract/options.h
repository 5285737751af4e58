/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of collet-extract. */
#ifndef TOOLS_EXTRACT_OPTIONS_H
#define TOOLS_EXTRACT_OPTIONS_H

#include "common/exit.h"
#include "common/shard.h"

#include <collet/trajectory.h>

/* Constant strings belong to argv; NULL: not given. */
typedef struct extract_options {
    collet_trajectory_options settings; /* without callbacks */
    collet_devices devices;             /* its devices */
    char **command; /* argv as it was typed, without --shard and --resume, which the results do not
                       depend on; NULL if out of memory */
    char *keys;     /* of all --keys, separated by ',' */
    const char **continuations; /* the TRAJ after the first, ended by NULL */
    size_t n_continuations;
    const char *output; /* -o */
    const char *plot;   /* the directory of --plot; NULL: no pictures */
    char *path;         /* the output, or the trajectory's name with .npz; no slash at the end */
    int directory;      /* the output is one */
    tool_shard shard;   /* of --shard */
    int force;          /* existing files may be replaced */
    int resume;         /* an existing shard of the same work is kept */
    int plan;           /* nothing is written */
    int quiet;
    int json;
    double seconds; /* of a job's run; 0: use the trajectory's */
} extract_options;

/* Reads the command line. A wrong one ends the program with TOOL_EXIT_USAGE and a message;
 * --help and --version end it with 0. */
void extract_options_parse(int argc, char **argv, extract_options *options);
void extract_options_free(extract_options *options);

#endif
