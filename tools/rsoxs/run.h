/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a simulation from files to files. */
#ifndef TOOLS_RSOXS_RUN_H
#define TOOLS_RSOXS_RUN_H

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

/* Reads the files and chooses the energies. */
collet_status rsoxs_run_read(rsoxs_run *run, const rsoxs_options *options, collet_error *err);
/* Prints the warnings of the files; opens runtime and scatterings. */
collet_status rsoxs_run_open(rsoxs_run *run, collet_error *err);
/* The scatterings on the devices, of its runtime and context; closed by rsoxs_run_close too. */
collet_status rsoxs_run_open_work(rsoxs_run *run, collet_error *err);
void rsoxs_run_close_work(rsoxs_run *run);
/* Computes and writes all patterns. */
collet_status rsoxs_run_work(rsoxs_run *run, collet_error *err);
/* INVALID if the run would replace or remove a file that it reads. */
collet_status rsoxs_check_outputs(const rsoxs_run *run, collet_error *err);
/* Removes what was made from a pattern that --force replaces, and from all. */
void rsoxs_remove_companions(const char *directory, double energy);
/* INVALID if the results of --integrate and --png cannot be made, or would replace others. */
collet_status rsoxs_results_check(const rsoxs_run *run, collet_error *err);
/* Memory that --integrate takes besides the arrays; 0 without it. */
uint64_t rsoxs_results_bytes(const rsoxs_run *run);
/* About what --integrate and --png write to the disk. */
double rsoxs_results_disk(const rsoxs_run *run);
/* Integrates and draws the patterns of all requested energies, from their files. */
collet_status rsoxs_results_write(rsoxs_run *run, collet_error *err);
void rsoxs_run_close(rsoxs_run *run);

/* The bytes of the arrays of all beams, one computed at a time. */
double rsoxs_plan_bytes(const rsoxs_run *run, const collet_scattering_plan *plan);
/* Prints the work and memory needed. NO_MEMORY. */
collet_status rsoxs_print_plan(const rsoxs_run *run, collet_error *err);
void rsoxs_print_summary(const rsoxs_run *run, double seconds);

#endif
