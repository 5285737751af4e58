/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the simulation of one film, from files to files. */
#ifndef TOOLS_RSOXS_RUN_H
#define TOOLS_RSOXS_RUN_H

#include "state.h"

#include <collet/devices.h>

/* Reads the files and chooses the energies. */
collet_status rsoxs_run_read(rsoxs_run *run, rsoxs_session *session, const rsoxs_film *film,
                             collet_error *err);
/* About what it writes to the disk. */
double rsoxs_run_bytes(const rsoxs_run *run);
/* Prints the warnings of the files. Opens the scatterings, and before the first ones the session's
 * runtime; neither if nothing is left to compute and no plan is needed. */
collet_status rsoxs_run_open(rsoxs_run *run, collet_error *err);
/* The scatterings on the devices, of its runtime and context; closed by rsoxs_run_close too. */
collet_status rsoxs_run_open_work(rsoxs_run *run, collet_error *err);
void rsoxs_run_close_work(rsoxs_run *run);
/* The part of the work that device `index` has done, for all beams. 0 if there is no such device. */
int rsoxs_run_share(const rsoxs_run *run, size_t index, collet_device_share *share);
/* Computes and writes the patterns that are left, and if the film is whole, its integrals and
 * pictures. */
collet_status rsoxs_run_work(rsoxs_run *run, collet_error *err);
void rsoxs_run_close(rsoxs_run *run);

#endif
