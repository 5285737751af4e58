/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - a topology: the atoms of a file with their names and properties, and their bonds. */
#pragma once

#include "io/source.h"

/* Bytes of a name with its NUL. Surrounding blanks are removed. */
#define TRAJECTORY_ATOM_NAME 16
/* Bytes of an element's symbol with its NUL. */
#define TRAJECTORY_SYMBOL 3

/* Two bonded atoms, first < second. */
typedef struct trajectory_bond {
    int64_t first;
    int64_t second;
} trajectory_bond;

/* Optional arrays are NULL if the file does not have the property. */
typedef struct trajectory_topology {
    int64_t n_atoms;
    const char *format;                          /* a name of formats.h; NULL: not from a file */
    char *title;                                 /* title of the file, never NULL */
    char (*names)[TRAJECTORY_ATOM_NAME];         /* n_atoms, e.g. "CA" */
    char (*residue_names)[TRAJECTORY_ATOM_NAME]; /* n_atoms, e.g. "ALA" */
    int32_t *residue_ids;                        /* n_atoms, as in the file */
    int64_t *residue_numbers; /* n_atoms, different for successive residues; optional */
    char *insertions;         /* n_atoms, insertion code of the residue, 0: none; optional */
    char (*chains)[TRAJECTORY_ATOM_NAME];   /* n_atoms, "": none; optional */
    char (*segments)[TRAJECTORY_ATOM_NAME]; /* n_atoms, "": none; optional */
    char (
        *elements)[TRAJECTORY_SYMBOL]; /* n_atoms, in upper or lower case, unchecked, "": unknown; optional */
    double *masses;                    /* n_atoms, amu; optional */
    double *charges;                   /* n_atoms, elementary charges; optional */
    trajectory_bond *bonds; /* n_bonds, each once, ascending by first, then second; optional */
    int64_t n_bonds;
    uint8_t
        *separate; /* n_atoms, 1: the atom is not bonded to the residue before, whatever the names
                          say; optional */
    trajectory_bond *joints; /* n_joints: atoms of different residues that are bonded by their distance in
                                the first frame, sorted as bonds; optional; not from the file */
    int64_t n_joints;
    int64_t n_clashes; /* pairs of residues whose atoms are too near to tell whether they are bonded */
    int64_t clash[2];  /* atoms of the first such pair */
    int64_t bonds_left_out; /* bonds of the file whose atoms cannot be identified */
    int64_t lacking;        /* if only some atoms have velocities: the first atom without a velocity; else -1 */
    int64_t left_out;       /* atoms in alternative locations, which are not used */
} trajectory_topology;

/* For the reading functions of formats: allocates the arrays of a zeroed topology that are not optional, copies the
 * title and sets `lacking` to -1; `path` is for messages. COLLET_NO_MEMORY. */
collet_status trajectory_topology_allocate(trajectory_topology *topology, int64_t n_atoms,
                                           const char *title, size_t title_length, const char *path,
                                           collet_error *err);

/* Allocates an optional array of a topology, n_atoms zeros; `array` points to its pointer. */
collet_status trajectory_topology_allocate_one(const trajectory_topology *topology, void *array,
                                               size_t element, const char *path, collet_error *err);

/* Optional arrays of atoms, as bits. */
enum {
    TRAJECTORY_WITH_INSERTIONS = 1,
    TRAJECTORY_WITH_CHAINS = 2,
    TRAJECTORY_WITH_SEGMENTS = 4,
    TRAJECTORY_WITH_ELEMENTS = 8,
    TRAJECTORY_WITH_MASSES = 16,
    TRAJECTORY_WITH_CHARGES = 32
};

/* Allocates the optional arrays of `which`: n_atoms zeros each. COLLET_NO_MEMORY. */
collet_status trajectory_topology_allocate_more(trajectory_topology *topology, unsigned which,
                                                const char *path, collet_error *err);

/* Sorts n bonds in the order of a topology. Pairs with first > second are swapped, and repeated bonds are removed.
 * Returns the number of remaining bonds. */
int64_t trajectory_bonds_sort(trajectory_bond *bonds, int64_t n);

/* Gives the topology `bonds`, which were allocated by malloc and may be in any order, and sorts them. COLLET_FORMAT
 * for an atom that does not exist or is bonded to itself; then the bonds are freed. */
collet_status trajectory_topology_set_bonds(trajectory_topology *topology, trajectory_bond *bonds,
                                            int64_t n_bonds, const char *path, collet_error *err);

/* Writes the symbol of an atomic number to elements[i]. Numbers that no element has, such as 0 and -1 of virtual
 * sites, do not change it. */
void trajectory_topology_put_element(trajectory_topology *topology, int64_t i, int64_t number);

/* Frees the optional arrays of characters in which all are zero, because the file does not have the property. */
void trajectory_topology_drop_empty(trajectory_topology *topology);

/* 1 if two atoms have the same residue_numbers or, if the topology has no residue_numbers, the same residue id,
 * insertion code, residue name, chain and segment. Consecutive atoms for which this is true are in the same
 * residue. */
int trajectory_topology_same_residue(const trajectory_topology *topology, int64_t a, int64_t b);

/* 1 if the atom is the only atom of its residue. */
int trajectory_topology_is_alone(const trajectory_topology *topology, int64_t i);

/* Copies columns of a text without the blanks around them; width < TRAJECTORY_ATOM_NAME. */
void trajectory_topology_copy_name(char name[TRAJECTORY_ATOM_NAME], const char *column,
                                   size_t width);

/* Frees the topology and all its arrays; NULL is allowed. */
void trajectory_topology_free(trajectory_topology *topology);
