/* SPDX-License-Identifier: Apache-2.0 */
/* spanning.h - joins atoms whose bonds are not known. */
#ifndef ENGINES_TRAJECTORY_BOXES_SPANNING_H
#define ENGINES_TRAJECTORY_BOXES_SPANNING_H

#include "lattice.h"
#include "trajectory/formats/names.h"

/*
 * Finds a minimum spanning tree of n atoms (n x 3 positions): the n - 1 `edges` that join all atoms with the
 * smallest sum of lengths. Atoms count from 0. Bonds are usually shorter than the distances of atoms that
 * are not bonded, so that the edges are bonds or hardly longer. Thus even a molecule longer than half the box is joined correctly.
 * Lengths are lengths of shortest images; if `lattice` is NULL, there is no box. Time grows with n squared.
 * Returns the length of the longest edge; `scratch`: 2 n.
 */
double trajectory_span(const trajectory_lattice *lattice, const double *positions, int64_t n,
                       trajectory_bond *edges, double *scratch);

/* 1 if an atom of a molecule, whose positions are placed, is within `distance` of a periodic image of one of its atoms:
 * then the molecule continues through the box. */
int trajectory_span_endless(const trajectory_lattice *lattice, const double *positions, int64_t n,
                            double distance);

#endif
