/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of collet-extract. */
#pragma once

#include "common/exit.h"
#include "common/shard.h"

#include <collet/trajectory.h>

/* Constant strings belong to argv; NULL if the option was not given. */
typedef struct extract_options {
    collet_trajectory_options settings; /* without callbacks */
    collet_devices devices;             /* the devices of `settings` */
    char **command; /* argv as it was typed, without --shard and --resume, which the results do not
                       depend on; NULL if out of memory */
    char *keys;     /* the keys of all --keys, separated by ',' */
    const char **continuations; /* each TRAJ after the first; NULL ends the list */
    size_t n_continuations;
    const char *output; /* -o */
    const char *plot;   /* the directory of --plot; NULL: no pictures */
    char *path;         /* the output, or the trajectory's name with .npz; no slash at the end */
    int directory;      /* the output is a directory */
    tool_shard shard;   /* of --shard */
    int force;          /* existing files may be replaced */
    int resume;         /* an existing shard of the same work is kept */
    int plan;           /* nothing is written */
    int quiet;
    int json;
    double seconds; /* the time that an MPI job took; 0: use the trajectory's time */
} extract_options;

/* Reads the command line. If it is wrong, the program ends with TOOL_EXIT_USAGE and a message;
 * --help and --version end the program with 0. */
void extract_options_parse(int argc, char **argv, extract_options *options);
void extract_options_free(extract_options *options);
