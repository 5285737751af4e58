/* SPDX-License-Identifier: Apache-2.0 */
/* energies.h - the energies of a film: requested, assigned to a shard, still to compute. */
#ifndef TOOLS_RSOXS_ENERGIES_H
#define TOOLS_RSOXS_ENERGIES_H

#include "state.h"

#define RSOXS_SETTINGS 400

/* Sets the energies of the run, its `chosen` and `work`, from the input's. IO, INVALID, FORMAT for a
 * pattern that is in the way. */
collet_status rsoxs_energies_choose(rsoxs_run *run, collet_error *err);

/* Whether the energy is to be computed; an error where its file is in the way. A pattern that is
 * kept is counted. */
collet_status rsoxs_energies_left(rsoxs_run *run, double energy,
                                  const collet_scatter_constants *constants, int *left,
                                  collet_error *err);

/* The settings that are recorded with a pattern: everything that determines it. */
void rsoxs_energies_describe(const rsoxs_run *run, double energy,
                             const collet_scatter_constants *constants,
                             char text[RSOXS_SETTINGS]);

#endif
