/* SPDX-License-Identifier: Apache-2.0 */
/* spanning.h - joins atoms whose bonds are not known. */
#ifndef ENGINES_TRAJECTORY_BOXES_SPANNING_H
#define ENGINES_TRAJECTORY_BOXES_SPANNING_H

#include "lattice.h"
#include "trajectory/formats/names.h"

/*
 * Joins n atoms (n x 3 positions) by the n - 1 edges that make the sum of their lengths smallest:
 * `edges`, numbers from 0 on. A bond is shorter than the distances of atoms that are not bonded, so
 * these edges are bonds or nearly as short, and a molecule longer than half the box is joined right.
 * Lengths are of shortest images; lattice NULL: there is no box. Time grows with n squared.
 * Returns the longest edge; `scratch`: 2 n.
 */
double trajectory_span(const trajectory_lattice *lattice, const double *positions, int64_t n,
                       trajectory_bond *edges, double *scratch);

/* 1 if an atom is within `distance` of another image of an atom, for placed positions: the molecule
 * continues through the box. */
int trajectory_span_endless(const trajectory_lattice *lattice, const double *positions, int64_t n,
                            double distance);

#endif
