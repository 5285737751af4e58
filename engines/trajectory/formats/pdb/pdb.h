/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pdb.h - the models of a .pdb file and their atoms, for the other files of this folder.
 *
 * A model ends with ENDMDL, with END, before the next MODEL, or with the file. In a residue with
 * alternative locations two kinds of atoms are used: atoms without a location, and atoms of the
 * location that comes first in the file. Columns follow the PDB's format 3.3; lengths are in
 * Angstrom. A serial number that is too long for its columns may move the other columns to the
 * right. Errors begin with "path:line:".
 */
#pragma once

#include "trajectory/formats/links.h"
#include "trajectory/formats/names.h"
#include "trajectory/formats/text.h"

/* Columns of an atom's line, from 0. */
enum {
    TRAJECTORY_PDB_NAME = 12,
    TRAJECTORY_PDB_LOCATION = 16,
    TRAJECTORY_PDB_RESIDUE_NAME = 17,
    TRAJECTORY_PDB_CHAIN = 21,
    TRAJECTORY_PDB_RESIDUE = 22,
    TRAJECTORY_PDB_INSERTION = 26,
    TRAJECTORY_PDB_POSITION = 30,
    TRAJECTORY_PDB_ATOM_END = 54, /* no atom's line is shorter */
    TRAJECTORY_PDB_SEGMENT = 72,
    TRAJECTORY_PDB_ELEMENT = 76,
    TRAJECTORY_PDB_ELEMENT_END = 78
};

#define TRAJECTORY_PDB_NUMBER 4 /* columns of a residue number */
#define TRAJECTORY_PDB_TITLE 256

typedef enum trajectory_pdb_end {
    TRAJECTORY_PDB_OPEN,     /* not reached yet */
    TRAJECTORY_PDB_COMPLETE, /* a record ends the model */
    TRAJECTORY_PDB_FILE      /* the file ends without a record that ends the model */
} trajectory_pdb_end;

typedef struct trajectory_pdb {
    io_lines lines;   /* set by the caller to the line after the last model */
    int64_t n_atoms;  /* number of atoms read so far */
    int64_t left_out; /* atoms so far in an alternative location that is not used */
    int announced;    /* 1: the model began with MODEL */
    int connected;    /* 1: a CONECT record was read */
    int boxed;        /* 1: a CRYST1 record was read */
    trajectory_pdb_end end;
    char title[TRAJECTORY_PDB_TITLE]; /* text of TITLE before the first atom; "": none */
    double box[9];   /* vectors of the last CRYST1, nm; the caller sets the box to use before the first CRYST1 */
    size_t shift;    /* columns by which a long serial number moves the last line to the right */
    char location;   /* the location used in this residue; ' ': none so far */
    char residue[6]; /* chain, number and insertion code of the last atom */
} trajectory_pdb;

/* Returns the line of the model's next atom, which has at least TRAJECTORY_PDB_ATOM_END + shift
 * columns; *text is NULL at the model's end. */
collet_status trajectory_pdb_next(trajectory_pdb *pdb, const char **text, size_t *length,
                                  collet_error *err);

/* Reads the position, in nm, from `text`, the line of the last atom. */
collet_status trajectory_pdb_position(const trajectory_pdb *pdb, const char *text,
                                      double position[3], collet_error *err);

/* After a model: moves pdb->lines to the end of the file if no atom follows. */
collet_status trajectory_pdb_skip_rest(trajectory_pdb *pdb, collet_error *err);

/* 1 if a .pdb file can begin with these n bytes. */
int trajectory_pdb_recognise(const uint8_t *bytes, size_t n);

/* Sets bonds and bonds_left_out of a topology whose atoms are read (in pdb_bonds.c): from SSBOND, LINK, the CONECT
 * records of the first model and the CONECT records after the last model. `start` is the beginning of the file, `rest`
 * the state after the first model. */
collet_status trajectory_pdb_read_bonds(const trajectory_pdb *start, const trajectory_pdb *rest,
                                        trajectory_topology *topology, collet_error *err);

/* 1 for the line of an atom and for MODEL. */
int trajectory_pdb_begins_model(const char *text, size_t length);

/* Reads the number of a residue, TRAJECTORY_PDB_NUMBER columns, and its insertion code, the next column; `last` is the
 * residue number of the atom before. 0: the text is not a number. */
int trajectory_pdb_residue(const char *text, int32_t last, int32_t *number, char *insertion);

/* Returns the serial number in the line of an atom, without blanks. */
trajectory_word trajectory_pdb_serial(const trajectory_pdb *pdb, const char *text);

/* The function trajectory_format.topology, in pdb_topology.c. */
collet_status trajectory_pdb_read_topology(io_source *source, trajectory_topology *topology,
                                           collet_error *err);
