/* SPDX-License-Identifier: Apache-2.0 */
/* top.h - the contents of a .top, .itp or .tpr file: molecule types, and the number of molecules of each type. */
#pragma once

#include "preprocessor.h"
#include "trajectory/formats/names.h"

#define TRAJECTORY_TOP_TITLE 256

typedef struct trajectory_top_atom {
    char name[TRAJECTORY_ATOM_NAME];
    char residue[TRAJECTORY_ATOM_NAME];
    int32_t residue_id;
    char insertion; /* 0: none */
    int32_t number; /* atomic number; unknown if no element has this number */
    double charge;  /* NaN: not in the files */
    double mass;    /* amu; NaN: not in the files */
} trajectory_top_atom;

/* A molecule type: ranges in the arrays `atoms` and `bonds` of trajectory_top. */
typedef struct trajectory_top_molecule {
    char name[TRAJECTORY_ATOM_NAME]; /* the first letters */
    int64_t first_atom;
    int64_t n_atoms;
    int64_t n_residues;
    int64_t first_bond;
    int64_t n_bonds;
} trajectory_top_molecule;

/* A line of [ molecules ]: consecutive molecules of one type. */
typedef struct trajectory_top_block {
    int64_t molecule; /* index of its type */
    int64_t count;
} trajectory_top_block;

typedef struct trajectory_top_type {
    double charge;
    double mass;
} trajectory_top_type;

typedef struct trajectory_top {
    char title[TRAJECTORY_TOP_TITLE]; /* "": none */
    trajectory_top_molecule *molecules;
    int64_t n_molecules, molecules_capacity;
    trajectory_top_atom *atoms;
    int64_t n_atoms, atoms_capacity;
    trajectory_bond *bonds; /* atoms count from 0 in each molecule */
    int64_t n_bonds, bonds_capacity;
    trajectory_top_block *blocks;
    int64_t n_blocks, blocks_capacity;
    int64_t total; /* atoms of all blocks, at most INT32_MAX and at most as many as memory can hold */
    trajectory_top_type *types;
    int64_t n_types, types_capacity;
    trajectory_dictionary type_names, molecule_names; /* map names to indices in types, molecules */
} trajectory_top;

/* Fills a zeroed `top`. Call trajectory_top_free also after an error. COLLET_FORMAT with
 * "path:line:"; COLLET_NO_MEMORY, COLLET_IO, COLLET_CANCELLED. */
collet_status trajectory_top_parse(trajectory_top *top, io_source *source, collet_error *err);

/* Fills a zeroed topology with the atoms and bonds of all molecules; sorts the bonds of `top`. There must be at least
 * one block. COLLET_FORMAT for a bond of an atom with itself, COLLET_OVERFLOW, COLLET_NO_MEMORY; `path` is for
 * messages. */
collet_status trajectory_top_build(trajectory_topology *topology, const trajectory_top *top,
                                   const char *path, collet_error *err);

/* Returns how many atoms fit into the memory that the process may use. A small file can request more atoms: the
 * allocation could succeed, and the system would then kill the program while it fills the arrays. */
int64_t trajectory_top_most_atoms(void);

void trajectory_top_free(trajectory_top *top);
