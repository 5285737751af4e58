/* SPDX-License-Identifier: Apache-2.0 */
/* path.h - the path of a point that does not jump through the periodic box. */
#pragma once

#include "lattice.h"

/* A limit for trajectory_lattice_fill: in a rectangular box a step by 0.4 of the box. */
#define TRAJECTORY_FAR 0.8

/* Extends a path by the point `centre` of the next frame: the point moves from `before`, its place in the last frame,
 * by the shortest way. `shift` is the vector from `centre` to the point of the path; only this function changes it.
 * Displacements are summed, so paths are also right if the box changes (the scheme TOR of Bullerjahn et al., J. Chem.
 * Theory Comput. 2023, doi 10.1021/acs.jctc.3c00308). Begin with NaN in `before` and 0 in `shift`. If `centre` is not
 * finite, nothing changes. lattice NULL: this frame has no box. Returns 1 if the step is beyond TRAJECTORY_FAR: the
 * point may not have moved by the shortest way. */
int trajectory_path_step(const trajectory_lattice *lattice, const double centre[3], double before[3],
                         double shift[3]);
