/* SPDX-License-Identifier: Apache-2.0 */
/* attenuation.h - the absorption of the beam in the film. */
#pragma once

#include "scatter/state.h"

/* Adds the fractions of layers first .. first+count-1 of material m to s->volumes. A second call for the same layers
 * adds nothing. */
collet_status scatter_count_fractions(collet_scatter *s, int64_t m, int64_t first, int64_t count,
                                      const collet_scatter_material *view);
/* Returns the optical depth mu t of an energy, averaged over the columns of voxels, if one voxel of the film has
 * beta = 1 and all other voxels have beta = 0. */
double scatter_absorption(const collet_scatter *s, int64_t energy);
/* Returns the fraction of the beam that leaves the film. Call it after scatter_count_fractions of all layers. */
double scatter_transmission(const collet_scatter *s, int64_t energy);
/* Returns beta of unaligned matter. */
double scatter_mean_beta(const collet_scatter_constants *n);
