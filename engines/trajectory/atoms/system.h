/* SPDX-License-Identifier: Apache-2.0 */
/* system.h - the system whose drift is removed: the atoms whose centre of mass and rotation are the drift. */
#pragma once

#include "trajectory/formats/names.h"

typedef struct trajectory_system {
    int64_t *atoms; /* n atoms of the topology, ascending; only atoms with a mass */
    int64_t n;      /* 0: no drift is removed */
    double *masses; /* n, amu */
    double mass;    /* their sum */
} trajectory_system;

typedef struct trajectory_system_setup {
    const trajectory_topology *topology;
    const char *path; /* of the topology, for messages */
    const char *text; /* a selection; NULL: all atoms */
    const char *ndx;  /* file with groups for the selection; NULL: none */
    const double
        *masses;       /* a mass for each atom of the topology; NULL: masses follow from elements */
    int32_t rotates;   /* 1: the rotation is removed; a single atom has no rotation */
    uint32_t reserved; /* 0 */
} trajectory_system_setup;

/* COLLET_INVALID for a selection that is malformed, differs from frame to frame, or has no atom or not enough atoms
 * with a mass; COLLET_FORMAT if the mass of an atom is unknown; errors of the file of groups; COLLET_NO_MEMORY. The
 * caller frees the system, also after an error. */
collet_status trajectory_system_open(trajectory_system *system,
                                     const trajectory_system_setup *setup, collet_error *err);

/* Zeros are allowed. */
void trajectory_system_free(trajectory_system *system);
