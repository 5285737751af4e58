/* SPDX-License-Identifier: Apache-2.0 */
/*
 * atoms.h - the atoms of an mmCIF file, model by model.
 *
 * The atoms are the rows of the first loop with _atom_site.Cartn_x. The number of a residue and its chain
 * are the author's (auth_seq_id, auth_asym_id), as in a .pdb file. The names of atoms and residues
 * are the dictionary's (label_atom_id, label_comp_id), as in MDAnalysis and gemmi. If the file lacks one of
 * these items, the corresponding label or auth item is used. In a residue the first alternative location is
 * used. The rows of a model, pdbx_PDB_model_num, are consecutive. Lengths are in Angstrom.
 */
#pragma once

#include "trajectory/formats/links.h"
#include "trajectory/formats/text.h"

#define TRAJECTORY_CIF_TEXT 256

typedef struct trajectory_cif_tokens {
    io_lines lines;      /* the lines after the current line */
    const char *at;      /* the unread rest of the current line; NULL: no line was read */
    const char *end;     /* end of the current line */
    const char *begin;   /* start of the current line */
    int64_t line_offset; /* byte of the file at which the current line begins */
    int open;            /* 1: the file ends with the word that was read last, without a line end */
    char text[TRAJECTORY_CIF_TEXT]; /* start of the last value with several lines */
} trajectory_cif_tokens;

typedef struct trajectory_cif_token {
    trajectory_word
        word;       /* without quotation marks, valid until the next read; text NULL: end of file */
    int quoted;     /* 1: a value, whatever its text */
    int64_t offset; /* where the word begins, for trajectory_cif_seek */
    int64_t line;
} trajectory_cif_token;

/* Reads the next word. If a value has several lines, only a part of the first line is returned.
 * COLLET_FORMAT with "path:line:" for a quotation mark or a text that is not closed. */
collet_status trajectory_cif_read(trajectory_cif_tokens *tokens, trajectory_cif_token *token,
                                  collet_error *err);

/* Continues with the word at an offset in a line. */
void trajectory_cif_seek(trajectory_cif_tokens *tokens, int64_t offset, int64_t line);

/* 1 for the end of the file, the name of an item or a keyword: each of them ends the values of a loop. */
int trajectory_cif_ends_values(const trajectory_cif_token *token);

/* 1 if the word is this name, in upper or lower case. */
int trajectory_cif_is(const trajectory_cif_token *token, const char *name);

/* 1 if a CIF file can begin with these n bytes. */
int trajectory_cif_recognise(const uint8_t *bytes, size_t n);

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

/* In which column of the loop each field is. */
typedef struct trajectory_cif_columns {
    uint8_t count;                         /* number of columns of the loop */
    uint8_t place[TRAJECTORY_CIF_FIELDS];  /* column, from 1; 0: not in the loop */
    uint8_t second[TRAJECTORY_CIF_FIELDS]; /* column that is used if the first column has no value; 0: none */
} trajectory_cif_columns;

typedef struct trajectory_cif_value {
    char text[TRAJECTORY_CIF_VALUE];
    size_t length; /* length of the whole value; 0: none, or the value is '.' or '?' */
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
    int has_cell;                                      /* 1: the cell of the file was read */
    trajectory_cif_value row[TRAJECTORY_CIF_FIELDS];   /* values of the last atom */
    trajectory_cif_value first[TRAJECTORY_CIF_FIELDS]; /* the first atom of the residue that has a
                                                          location: this location is used */
    int64_t n_atoms;                                   /* atoms of the model so far */
    int64_t left_out; /* rows of the model so far that are in alternative locations that are not used */
    trajectory_cif_value model;
    trajectory_cif_end end;
    /* Where the last word that was read begins. After a model this is the next model, or the text after the loop. */
    int64_t next, next_line;
} trajectory_cif;

/* Reads from the start of the file to the loop of atoms; takes title and box if they come before
 * this loop. The next line that is read is the loop's first row. COLLET_FORMAT if there is no loop. */
collet_status trajectory_cif_find_atoms(trajectory_cif *cif, collet_error *err);

/* Searches the rest of the file for the box if there was none before the atoms. Changes nothing else. */
collet_status trajectory_cif_find_box(trajectory_cif *cif, collet_error *err);

/* Reads the next atom of the model; *more is 0 at its end. */
collet_status trajectory_cif_next(trajectory_cif *cif, int *more, collet_error *err);

/* Copies the token's text to *value; '.' and '?' without quotation marks are not values; they leave *value
 * unchanged. */
void trajectory_cif_take_value(trajectory_cif_value *value, const trajectory_cif_token *token);

/* Adds the bonds of _struct_conn between the file's `offset` and `end` (in connections.c). COLLET_FORMAT,
 * COLLET_NO_MEMORY. */
collet_status trajectory_cif_read_links(io_source *source, int64_t offset, int64_t line,
                                        int64_t end, trajectory_links *links, collet_error *err);

/* The position of the last atom, nm. */
collet_status trajectory_cif_position(const trajectory_cif *cif, double position[3],
                                      collet_error *err);
