/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - integrals and pictures of the patterns. */
#ifndef TOOLS_RSOXS_RESULTS_H
#define TOOLS_RSOXS_RESULTS_H

#include "state.h"

/* INVALID if the results of --integrate and --png cannot be made, or would replace others. */
collet_status rsoxs_results_check(const rsoxs_run *run, collet_error *err);
/* Memory that --integrate takes besides the arrays; 0 without it. */
uint64_t rsoxs_results_bytes(const rsoxs_run *run);
/* About what --integrate and --png write to the disk. */
double rsoxs_results_disk(const rsoxs_run *run);
/* Whether nothing is to be made: the results that are requested, if any, are there and of these
 * patterns. */
int rsoxs_results_kept(const rsoxs_run *run);
/* Integrates and draws the patterns of all requested energies, from their files. */
collet_status rsoxs_results_write(rsoxs_run *run, collet_error *err);

#endif
