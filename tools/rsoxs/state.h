/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - the state of a simulation, for the files of this folder. */
#pragma once

#include "films.h"
#include "options.h"

#include "common/devices.h"
#include "common/progress.h"

#define RSOXS_INTEGRALS "integrated.h5"

/* The state that all films share. */
typedef struct rsoxs_session {
    const rsoxs_options *options;
    rsoxs_films films;
    int64_t n_films, done;   /* the films of this process, for progress */
    collet_runtime *runtime; /* NULL until a film needs it */
    collet_context *context;
    tool_devices devices;
    tool_progress progress;
    char **told; /* warnings about files other than films, which are printed once */
    size_t n_told;
    int compared; /* 1: the grid was compared with the exact grid */
} rsoxs_session;

/* The simulation of one film that the arguments and files request. */
typedef struct rsoxs_run {
    const rsoxs_options *options;
    rsoxs_session *session;
    const char *film; /* the morphology */
    collet_scatter_input *input;
    collet_scatter_options work; /* for the first beam and the remaining energies */
    double *chosen;                 /* all requested energies, in ascending order */
    int64_t n_chosen;
    int64_t first, end; /* this process's range of requested energies, in the configuration's order */
    double *energies;   /* the remaining energies */
    int64_t *places;    /* the index of each remaining energy among the requested energies */
    collet_scatter_constants *constants;
    const double (*beams)[3];
    int64_t n_beams;
    int64_t kept;    /* the number of energies that an earlier run has written */
    int64_t written; /* the number of energies that this run has written */
    const char *directory;
    char morphology[80]; /* the description of the film's file in the settings that are recorded with a pattern */
    char integrals[200]; /* the settings recorded with the integrals */
    collet_runtime *runtime;
    collet_context *context; /* belongs to the session */
    tool_devices devices;
    collet_context **contexts;       /* one for each beam and device; NULL: `context` computes all */
    collet_scatter **scatterings; /* one for each beam */
    size_t warned;                   /* the number of printed warnings of the input */
    uint64_t failed;                 /* a bit for each device whose failure was printed */
} rsoxs_run;

/* 1 if this process computes all requested energies of the film. */
static inline int rsoxs_run_whole(const rsoxs_run *run)
{
    return run->first == 0 && run->end >= run->n_chosen;
}
