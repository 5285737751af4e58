/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the head of a frame of a LAMMPS dump file, for dump.c. */
#pragma once

#include "trajectory/formats/text.h"

/* What a column holds. */
enum {
    TRAJECTORY_LAMMPS_X,      /* x, y, z */
    TRAJECTORY_LAMMPS_V = 3,  /* vx, vy, vz */
    TRAJECTORY_LAMMPS_F = 6,  /* fx, fy, fz */
    TRAJECTORY_LAMMPS_ID = 9, /* the number of the atom */
    TRAJECTORY_LAMMPS_ROLES,
    TRAJECTORY_LAMMPS_OTHER = -1
};

#define TRAJECTORY_LAMMPS_COLUMNS 128

typedef struct trajectory_lammps_frame {
    char units[16]; /* text of ITEM: UNITS, which only the first frame has; "": not in this frame */
    int64_t step;
    int32_t has_time;
    double time; /* in the file's unit */
    int64_t n_atoms;
    double origin[3]; /* origin of the box; `origin` and `box` are in the file's unit of length */
    double box[9];
    int32_t is_periodic[3]; /* for each vector: 1: the box is periodic along it */
    int32_t is_scaled;      /* 1: x, y and z are fractions: position = origin + x a + y b + z c */
    int32_t n_columns;
    int32_t fields; /* TRAJECTORY_HAS_*, and TRAJECTORY_LAMMPS_HAS_ID */
    int8_t roles[TRAJECTORY_LAMMPS_COLUMNS];
} trajectory_lammps_frame;

#define TRAJECTORY_LAMMPS_HAS_ID 8

/* Reads the lines up to "ITEM: ATOMS ...". COLLET_FORMAT for a malformed line, which the text names. If the file
 * ends before that line, *ends is 1 and the status COLLET_OK. */
collet_status trajectory_lammps_read_head(io_lines *lines, trajectory_lammps_frame *frame,
                                          int *ends, collet_error *err);
