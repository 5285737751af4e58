/* SPDX-License-Identifier: Apache-2.0 */
/* cell.h - the vectors of a periodic box from its lengths and angles. */
#pragma once

/* Returns the cosine of an angle in degrees; exactly 0 for 90. */
double trajectory_cell_cosine(double degrees);

/* Sets `box` to the vectors (nm) of a box with sides of these lengths (Angstrom) and these cosines of alpha,
 * beta and gamma: a along x, b in the plane of x and y. Zeros if there is no such box. */
void trajectory_cell_vectors(double box[9], const double lengths[3], const double cosines[3]);

/* Sets `box` from the lengths (Angstrom) and angles (degrees) of a crystal. A cube of 1 Angstrom, which files
 * without a crystal have, gives zeros. */
void trajectory_cell_of_crystal(double box[9], const double cell[6]);

/* Sets `box` from the six numbers of a .dcd file. These have one of three forms: a, cosine of gamma, b, cosine of
 * beta, cosine of alpha, c; the same with angles in degrees (NAMD up to 2.5, CHARMM up to 21); or
 * the symmetric matrix of the vectors, xx, xy, yy, xz, yz, zz, which later versions of CHARMM write.
 * `version` is the version of CHARMM in the file's head. */
void trajectory_cell_of_dcd(double box[9], const double cell[6], int version);
