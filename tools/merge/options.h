/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of collet-merge. */
#pragma once

#include <stddef.h>

typedef struct merge_options {
    char **command;
    const char *output; /* NULL: for shards, the name of their directory without ".shards" */
    const char **paths; /* n paths, then NULL */
    size_t n;
    int force;
    int quiet;
    int check; /* 1: nothing is written */
} merge_options;
