/* SPDX-License-Identifier: Apache-2.0 */
/* comment.h - the contents of the second line of a frame of an .xyz file: the columns, the box, the time. */
#pragma once

#include "trajectory/formats/text.h"

#define XYZ_WORDS 64 /* maximum number of words of an atom's line that are read */

/* The place of each quantity in an atom's line: the index of its first word; -1: not in the line. */
typedef struct xyz_columns {
    int n; /* minimum number of words of each line */
    int last; /* number of words at the end that are numbers of one property; 0: the last word is no real number */
    int name;
    int number;   /* atomic number */
    int position; /* three words, Angstrom */
    int velocity; /* three words, Angstrom/fs */
    int momentum; /* three words, (amu eV)^(1/2), as ASE writes */
    int force;    /* three words, eV/Angstrom */
    int mass;     /* amu */
} xyz_columns;

typedef struct xyz_comment {
    trajectory_text_moment moment;
    double box[9]; /* nm; zeros: none */
    xyz_columns columns;
} xyz_comment;

/*
 * Parses the comment, the last line that was read from `lines`. In an extended file it may have Lattice="..." with nine
 * numbers, pbc="T T F", where F means no period along a vector, and Properties=NAME:TYPE:COUNT:..., the columns;
 * units are as in ASE and QUIP. "t=" is a time in ps; "i = 5, time = 2.5, ..." of CP2K is a time in fs.
 * COLLET_FORMAT.
 */
collet_status xyz_comment_parse(const io_lines *lines, const char *text, size_t length,
                                xyz_comment *comment, collet_error *err);
