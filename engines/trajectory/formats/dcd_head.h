/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dcd_head.h - reads the head of a .dcd file, for dcd.c.
 *
 * Files of CHARMM, NAMD, X-PLOR, LAMMPS and OpenMM consist of Fortran records. Each record is between two markers
 * with its length. A marker has 4 or 8 bytes, in either byte order. The file's head has "CORD" and 20 integers;
 * titles; the number of atoms; and the numbers of the atoms that move, if some are fixed. A frame has optionally the
 * cell; x, y and z in single precision; and optionally a fourth dimension and charges. Later frames leave out fixed
 * atoms.
 */
#pragma once

#include "trajectory_format.h"

#define TRAJECTORY_DCD_CELL 48 /* bytes of the record of the cell */

typedef struct trajectory_dcd {
    int ready;
    int big;       /* 1: big-endian */
    size_t marker; /* bytes: 4 or 8 */
    int version;   /* version of CHARMM; 0: the head has X-PLOR's form */
    int has_cell;
    int extra; /* number of records of a frame after z */
    int64_t n_atoms;
    int64_t n_free;
    int64_t first_step;
    int64_t steps; /* steps between frames */
    double delta;  /* ps */
    int64_t data;  /* offset of the first frame */

    int32_t *places; /* index of each atom among the moving atoms, -1: fixed; NULL: no atom is fixed */

    uint8_t *planes;  /* used in dcd.c: x, y and z of a span */
    size_t span;      /* bytes of x, of y and of z */
    float *positions; /* with fixed atoms: all positions in the first frame, nm */
    float *moved;     /* with fixed atoms: positions of the moving atoms in this frame, nm */
} trajectory_dcd;

/* 1 if a .dcd file can begin with these n bytes; in this case sets byte order and marker. */
int trajectory_dcd_recognise(trajectory_dcd *dcd, const uint8_t *bytes, size_t n);

/* Reads the file's head into trajectory->state. Errors: see trajectory_format.head. */
collet_status trajectory_dcd_read_head(trajectory_reader *trajectory, collet_error *err);

/* Numbers in the file's byte order. */
int64_t trajectory_dcd_marker(const trajectory_dcd *dcd, const uint8_t *bytes);
double trajectory_dcd_f64(const trajectory_dcd *dcd, const uint8_t *bytes);

/* Bytes of a record with its markers. */
static inline int64_t trajectory_dcd_record(const trajectory_dcd *dcd, int64_t length)
{
    return length + 2 * (int64_t)dcd->marker;
}
