/* SPDX-License-Identifier: Apache-2.0 */
/* formats.h - the list of all formats. */
#pragma once

#include "trajectory_format.h"

/* The formats, in the order in which they are tried. The row of NAME is called
 * trajectory_NAME_format. */
#define TRAJECTORY_FORMATS(X)                                                                      \
    X(trr)                                                                                         \
    X(dcd)                                                                                         \
    X(xtc)                                                                                         \
    X(nc)                                                                                          \
    X(h5md)                                                                                        \
    X(dump)                                                                                        \
    X(xyz)                                                                                         \
    X(rst7)                                                                                        \
    X(gro)                                                                                         \
    X(pdb)                                                                                         \
    X(tpr)                                                                                         \
    X(psf)                                                                                         \
    X(top)                                                                                         \
    X(prmtop)                                                                                      \
    X(cif)

#define TRAJECTORY_DECLARE(name) extern const trajectory_format trajectory_##name##_format;
TRAJECTORY_FORMATS(TRAJECTORY_DECLARE)
#undef TRAJECTORY_DECLARE
