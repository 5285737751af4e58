/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atoms.h - the atoms of an mmCIF file, model by model.
 *
 * They are the rows of the first loop with _atom_site.Cartn_x. The number of a residue and its chain
 * are the author's (auth_seq_id, auth_asym_id), as in a .pdb file; the names of atoms and residues
 * are the dictionary's (label_atom_id, label_comp_id), as in MDAnalysis and gemmi; where the file
 * lacks one, the other counts. The first alternative location in a residue is used. Rows of a
 * model, pdbx_PDB_model_num, follow each other. Lengths are in Angstrom.
 */
#ifndef ENGINES_TRAJECTORY_FORMATS_CIF_ATOMS_H
#define ENGINES_TRAJECTORY_FORMATS_CIF_ATOMS_H

#include "tokens.h"
#include "trajectory/formats/links.h"

/* The columns that are used. */
enum {
    TRAJECTORY_CIF_MODEL,
    TRAJECTORY_CIF_LOCATION,
    TRAJECTORY_CIF_CHAIN,
    TRAJECTORY_CIF_RESIDUE,
    TRAJECTORY_CIF_INSERTION,
    TRAJECTORY_CIF_NAME,
    TRAJECTORY_CIF_RESIDUE_NAME,
    TRAJECTORY_CIF_ELEMENT,
    TRAJECTORY_CIF_X,
    TRAJECTORY_CIF_Y,
    TRAJECTORY_CIF_Z,
    TRAJECTORY_CIF_FIELDS
};

#define TRAJECTORY_CIF_VALUE 32 /* bytes of a value that are kept */

/* Where the loop has the columns. */
typedef struct trajectory_cif_columns {
    uint8_t count;                         /* of the loop */
    uint8_t place[TRAJECTORY_CIF_FIELDS];  /* from 1; 0: not in the loop */
    uint8_t second[TRAJECTORY_CIF_FIELDS]; /* the item that counts where the first has no value */
} trajectory_cif_columns;

typedef struct trajectory_cif_value {
    char text[TRAJECTORY_CIF_VALUE];
    size_t length; /* of the whole value; 0: none, or one of '.' and '?' */
} trajectory_cif_value;

typedef enum trajectory_cif_end {
    TRAJECTORY_CIF_OPEN, /* not reached yet */
    TRAJECTORY_CIF_MORE, /* another model follows at `next` */
    TRAJECTORY_CIF_LOOP, /* the loop ends */
    TRAJECTORY_CIF_FILE  /* the file ends */
} trajectory_cif_end;

typedef struct trajectory_cif {
    trajectory_cif_tokens tokens;
    trajectory_cif_columns columns;
    char title[TRAJECTORY_CIF_TEXT];
    double box[9];                                     /* nm; zeros: none */
    int has_cell;                                      /* 1: the file has said so */
    trajectory_cif_value row[TRAJECTORY_CIF_FIELDS];   /* of the last atom */
    trajectory_cif_value first[TRAJECTORY_CIF_FIELDS]; /* of the first atom in its residue with a
                                                          location: this location is used */
    int64_t n_atoms;                                   /* of the model so far */
    int64_t left_out; /* rows of the model so far in other locations */
    trajectory_cif_value model;
    trajectory_cif_end end;
    int64_t next, next_line; /* where the last row begins, and so the next model, or what follows
                                the loop */
} trajectory_cif;

/* Reads from the start of the file to the loop of atoms; takes title and box if they come before
 * it. The next line that is read is the loop's first row. COLLET_FORMAT if there is no loop. */
collet_status trajectory_cif_find_atoms(trajectory_cif *cif, collet_error *err);

/* Reads the rest of the file for its box if none was before the atoms; nothing else is changed. */
collet_status trajectory_cif_find_box(trajectory_cif *cif, collet_error *err);

/* Reads the next atom of the model; *more is 0 at its end. */
collet_status trajectory_cif_next(trajectory_cif *cif, int *more, collet_error *err);

/* Keeps a value; '.' and '?' without quotation marks are none, and leave it unchanged. */
void trajectory_cif_take_value(trajectory_cif_value *value, const trajectory_cif_token *token);

/* The function of connections.c: adds the bonds of _struct_conn between the file's `offset` and `end`. COLLET_FORMAT, COLLET_NO_MEMORY. */
collet_status trajectory_cif_read_links(io_source *source, int64_t offset, int64_t line,
                                        int64_t end, trajectory_links *links, collet_error *err);

/* The position of the last atom, nm. */
collet_status trajectory_cif_position(const trajectory_cif *cif, double position[3],
                                      collet_error *err);

#endif
