/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line of collet-rsoxs. */
#pragma once

#include "commands.h"

#include "common/devices.h"
#include "common/shard.h"

#include <collet/scatter.h>

typedef struct rsoxs_options {
    char **films; /* morphologies */
    int64_t n_films;
    const char *list; /* a file that names more morphologies, or NULL */
    const char *configuration, *directory, *backend;
    const char *devices; /* NULL: all devices of the backend that have the same name */
    uint32_t method, grid, neighbours;
    collet_dtype dtype;
    double *energies; /* the energies of --energies; NULL: all */
    int64_t n_energies;
    uint64_t memory;
    int64_t threads;
    int resume, force, plan, json, quiet;
    int integrate, png;
    int has_grid;     /* 1: --q-grid was given */
    double wedge;     /* degrees; 0: not given */
    tool_shard shard; /* the shard of --shard */
    tool_place place; /* this rank's place among the ranks of an MPI job on this host */
    int part;         /* 1: a rank of a job; the merge makes the missing results */
    int64_t merge;    /* in a merge, the number of shards whose patterns are completed; else 0 */
    int job;          /* 1: the merge ends an MPI job */
} rsoxs_options;

/* The commands of commands.h; NULL ends the list. */
extern const tool_command *const rsoxs_commands[];

/* Reads the command line. The program ends after --help, --version or a wrong command line. */
void rsoxs_options_parse(int argc, char **argv, rsoxs_options *options);
void rsoxs_options_free(rsoxs_options *options);
