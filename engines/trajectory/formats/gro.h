/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gro.h - the parts of a frame of a .gro file, for gro.c and gro_trajectory.c.
 *
 * Fixed columns: residue number 5, residue name 5, atom name 5, atom number 5, then positions (nm)
 * and perhaps velocities (nm/ps). The distance of the first two decimal points gives the width of
 * all six; it is 5 more than the decimals of a position. Errors begin with "path:line:".
 */
#pragma once

#include "io/lines.h"
#include "names.h"
#include "text.h"

#define TRAJECTORY_GRO_POSITIONS 20 /* column where positions begin */

/* The two lines before the atoms. */
typedef struct trajectory_gro_head {
    int64_t n_atoms;
    trajectory_text_moment title;
} trajectory_gro_head;

/* Columns, the same for each line of the frame. */
typedef struct trajectory_gro_columns {
    size_t width;
    int64_t with_velocity; /* number of atoms so far that have a velocity */
    int64_t lacking;       /* first atom without a velocity so far; -1: all have one */
} trajectory_gro_columns;

/* Returns the index of the first atom without a velocity in a frame in which other atoms have velocities; else -1. */
static inline int64_t trajectory_gro_lacking(const trajectory_gro_columns *columns)
{
    return columns->with_velocity > 0 ? columns->lacking : -1;
}

/* Reads the head. If the file ends inside the head, *truncated is 1 and the status COLLET_FORMAT; else
 * *truncated is 0. */
collet_status trajectory_gro_read_head(io_lines *lines, trajectory_gro_head *head, int *truncated,
                                       collet_error *err);

/* Checks the line of an atom. Call it for each atom, from 0, after its line was read from `lines`. The line of
 * atom 0 defines the columns. Three finite numbers after the position are a velocity; other text is ignored. */
collet_status trajectory_gro_measure(const io_lines *lines, const char *text, size_t length,
                                     int64_t atom, trajectory_gro_columns *columns,
                                     collet_error *err);

/*
 * Reads the position of an atom from `text`, the last line read from `lines`; fields may touch. If `velocity` is not
 * NULL, reads the velocity, too; in this case every atom of the frame must have a velocity.
 */
collet_status trajectory_gro_read_atom(const io_lines *lines, const char *text, size_t length,
                                       const trajectory_gro_columns *columns, double position[3],
                                       double velocity[3], collet_error *err);

/* Reads the box, three vectors, from the line after the atoms. If the line is empty or has other text, the box
 * is 0; only the line of another atom is an error. If the file ends in this line, the line must have 3 or 9 numbers,
 * and *ending says whether the last number, or the line, may be incomplete. */
collet_status trajectory_gro_read_box(io_lines *lines, double box[9],
                                      trajectory_text_ending *ending, collet_error *err);

/* 1 if a .gro file can begin with these n bytes. */
int trajectory_gro_recognise(const uint8_t *bytes, size_t n);

/* The function trajectory_format.topology, in gro.c. */
collet_status trajectory_gro_read_topology(io_source *source, trajectory_topology *topology,
                                           collet_error *err);
