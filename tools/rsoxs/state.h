/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what a simulation holds, for the files of this folder. */
#ifndef TOOLS_RSOXS_STATE_H
#define TOOLS_RSOXS_STATE_H

#include "films.h"
#include "options.h"

#include "common/devices.h"
#include "common/progress.h"

#define RSOXS_INTEGRALS "integrated.h5"

/* What all films share. */
typedef struct rsoxs_session {
    const rsoxs_options *options;
    rsoxs_films films;
    int64_t n_films, done;   /* of this process, for progress */
    collet_runtime *runtime; /* NULL: no film needed it yet */
    collet_context *context;
    tool_devices devices;
    tool_progress progress;
    char **told; /* warnings about other files than films: once is enough */
    size_t n_told;
} rsoxs_session;

/* The request of the arguments and files, for one film. */
typedef struct rsoxs_run {
    const rsoxs_options *options;
    rsoxs_session *session;
    const char *film; /* the morphology */
    collet_scatter_input *input;
    collet_scatter_options work; /* for the first beam, of the energies that are left */
    double *chosen;                 /* all requested energies, in ascending order */
    int64_t n_chosen;
    int64_t first, end; /* what this process does of them, in the order of the configuration */
    double *energies;   /* energies that are left */
    int64_t *places;    /* where they are among the requested ones */
    collet_scatter_constants *constants;
    const double (*beams)[3];
    int64_t n_beams;
    int64_t kept;    /* energies that an earlier run has written */
    int64_t written; /* by this run */
    const char *directory;
    char morphology[80]; /* its file, as the settings recorded with a pattern have it */
    char integrals[200]; /* the settings recorded with them */
    collet_runtime *runtime;
    collet_context *context; /* the session's */
    tool_devices devices;
    collet_context **contexts;       /* of the beams, one a device; NULL: `context` does all */
    collet_scatter **scatterings; /* of the beams */
    size_t warned;                   /* warnings of the input that were printed */
    uint64_t failed;                 /* devices whose failure was printed, a bit for each */
} rsoxs_run;

/* Whether this process does all requested energies of the film. */
static inline int rsoxs_run_whole(const rsoxs_run *run)
{
    return run->first == 0 && run->end >= run->n_chosen;
}

#endif
