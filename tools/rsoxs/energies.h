/* SPDX-License-Identifier: Apache-2.0 */
/* energies.h - the energies of a film: the requested energies, a shard's share, and the remaining energies. */
#pragma once

#include "state.h"

#define RSOXS_SETTINGS 400

/* Sets the run's `chosen`, its other energies and its `work` from the energies of the input. Fails with IO, INVALID
 * or FORMAT if an existing file blocks the writing of a pattern. */
collet_status rsoxs_energies_choose(rsoxs_run *run, collet_error *err);

/* Sets *left to 1 if the energy must be computed. If an existing pattern is kept, the run counts it; an error
 * if the existing file can neither be kept nor replaced. */
collet_status rsoxs_energies_left(rsoxs_run *run, double energy,
                                  const collet_scatter_constants *constants, int *left,
                                  collet_error *err);

/* Writes the settings that are recorded with a pattern: everything that determines the pattern. */
void rsoxs_energies_describe(const rsoxs_run *run, double energy,
                             const collet_scatter_constants *constants,
                             char text[RSOXS_SETTINGS]);
