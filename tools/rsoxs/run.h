/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - a simulation from files to files. */
#ifndef TOOLS_RSOXS_RUN_H
#define TOOLS_RSOXS_RUN_H

#include "state.h"

/* Reads the files and chooses the energies. */
collet_status rsoxs_run_read(rsoxs_run *run, const rsoxs_options *options, collet_error *err);
/* Prints the warnings of the files; opens runtime and scatterings. */
collet_status rsoxs_run_open(rsoxs_run *run, collet_error *err);
/* The scatterings on the devices, of its runtime and context; closed by rsoxs_run_close too. */
collet_status rsoxs_run_open_work(rsoxs_run *run, collet_error *err);
void rsoxs_run_close_work(rsoxs_run *run);
/* Computes and writes all patterns. */
collet_status rsoxs_run_work(rsoxs_run *run, collet_error *err);
void rsoxs_run_close(rsoxs_run *run);

#endif
