/* SPDX-License-Identifier: Apache-2.0 */
/* run.h - the simulation of one film, from files to files. */
#pragma once

#include "state.h"

#include <collet/devices.h>

/* Reads the files and chooses the energies. */
collet_status rsoxs_run_read(rsoxs_run *run, rsoxs_session *session, const rsoxs_film *film,
                             collet_error *err);
/* Returns about how many bytes the run writes to the disk. */
double rsoxs_run_bytes(const rsoxs_run *run);
/* Prints the warnings about the files. Opens the scatterings and, for the first film, the session's
 * runtime. Opens nothing if nothing is left to compute and no plan is needed. */
collet_status rsoxs_run_open(rsoxs_run *run, collet_error *err);
/* Opens the scatterings on the devices, with the run's runtime and context. rsoxs_run_close closes them
 * too. */
collet_status rsoxs_run_open_work(rsoxs_run *run, collet_error *err);
void rsoxs_run_close_work(rsoxs_run *run);
/* Sets *share to the part of the work that device `index` has done, for all beams. Returns 0 if there is
 * no such device. */
int rsoxs_run_share(const rsoxs_run *run, size_t index, collet_device_share *share);
/* Computes and writes the remaining patterns. If this process computes the whole film, also writes its
 * integrals and pictures. */
collet_status rsoxs_run_work(rsoxs_run *run, collet_error *err);
void rsoxs_run_close(rsoxs_run *run);
