/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - what a simulation holds, for the files of this folder. */
#ifndef TOOLS_RSOXS_STATE_H
#define TOOLS_RSOXS_STATE_H

#include "devices.h"
#include "options.h"

#include "common/progress.h"

#define RSOXS_SETTINGS 400
#define RSOXS_INTEGRALS "integrated.h5"

/* The request of the arguments and files. */
typedef struct rsoxs_run {
    const rsoxs_options *options;
    collet_scattering_input *input;
    collet_scattering_options work; /* for the first beam, of the energies that are left */
    double *chosen;                 /* all requested energies, in ascending order */
    int64_t n_chosen;
    double *energies;
    collet_scattering_constants *constants;
    const double (*beams)[3];
    int64_t n_beams;
    int64_t kept;    /* energies that an earlier run has written */
    int64_t written; /* by this run */
    const char *directory;
    char morphology[80]; /* its file, as the settings recorded with a pattern have it */
    collet_runtime *runtime;
    collet_context *context;
    rsoxs_devices devices;
    collet_context **contexts;       /* of the beams, one a device; NULL: `context` does all */
    collet_scattering **scatterings; /* of the beams */
    tool_progress progress;
    size_t warned; /* warnings of the input that were printed */
} rsoxs_run;

#endif
