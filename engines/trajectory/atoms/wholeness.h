/* SPDX-License-Identifier: Apache-2.0 */
/* wholeness.h - finds molecules of a frame that the periodic box cuts. */
#ifndef ENGINES_TRAJECTORY_ATOMS_WHOLENESS_H
#define ENGINES_TRAJECTORY_ATOMS_WHOLENESS_H

#include "trajectory/formats/frames.h"
#include "trajectory/formats/names.h"

typedef struct trajectory_cut {
    int64_t count;   /* residues that are cut, or whose bond to the next residue is cut */
    int64_t atom;    /* first atom of the first such residue, in the topology */
    int64_t next;    /* first atom of the residue it is bonded to; -1: its own atoms are apart */
    int32_t axis;    /* vector of the box along which they are apart, 0 to 2 */
    double distance; /* along the axis, in lengths of the vector, > 0.5 */
} trajectory_cut;

/*
 * Looks in frame 0 of `frames`, whose atoms are `indices` of the topology, for residues with atoms
 * more than half a box apart along an axis of the box, and for successive residues of a protein or
 * a nucleic acid whose bond is that long. Without a box it finds none.
 */
void trajectory_cut_find(trajectory_cut *cut, const trajectory_topology *topology,
                         const int64_t *indices, const trajectory_frames *frames);

#endif
