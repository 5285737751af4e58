/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - integrals and pictures of the patterns. */
#pragma once

#include "state.h"

/* Returns INVALID if the results of --integrate and --png cannot be made, or would replace other files. */
collet_status rsoxs_results_check(const rsoxs_run *run, collet_error *err);
/* Returns the memory that --integrate needs in addition to the arrays; 0 without --integrate. */
uint64_t rsoxs_results_bytes(const rsoxs_run *run);
/* Returns about how many bytes --integrate and --png write to the disk. */
double rsoxs_results_disk(const rsoxs_run *run);
/* 1 if nothing must be made: all requested results exist and belong to these patterns, or no results are
 * requested. */
int rsoxs_results_kept(const rsoxs_run *run);
/* Reads the patterns of all requested energies from their files, and integrates and draws them. */
collet_status rsoxs_results_write(rsoxs_run *run, collet_error *err);
