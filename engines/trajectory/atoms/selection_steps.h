/* SPDX-License-Identifier: Apache-2.0 */
/*
 * selection_steps.h - a compiled selection; private to selection*.c and choice*.c.
 *
 * A selection is compiled to postfix: a test pushes a set of atoms, an operator replaces the sets on
 * top. Its evaluation needs no recursion.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef enum selection_code {
    SELECT_ALL,
    SELECT_NONE,
    SELECT_PROTEIN,
    SELECT_NUCLEIC,
    SELECT_WATER,
    SELECT_BACKBONE,
    SELECT_RESNAME, /* RESNAME .. GROUP: one of the patterns in `items` matches */
    SELECT_NAME,
    SELECT_ELEMENT,
    SELECT_CHAIN,
    SELECT_SEGMENT,
    SELECT_GROUP,
    SELECT_RESID, /* RESID and INDEX: in one of the ranges in `items` */
    SELECT_INDEX,
    SELECT_MASS, /* MASS and CHARGE: compared with `number` */
    SELECT_CHARGE,
    SELECT_NOT,
    SELECT_AND,
    SELECT_OR,
    SELECT_SAME,     /* atoms in the same residue, molecule, chain or segment (`kind`) as an atom of the set */
    SELECT_WITHIN,   /* atoms at most `number` nm from an atom of the set */
    SELECT_EXWITHIN, /* the same without the set itself */
} selection_code;

typedef enum selection_kind {
    SELECT_SAME_RESIDUE,
    SELECT_SAME_MOLECULE,
    SELECT_SAME_CHAIN,
    SELECT_SAME_SEGMENT
} selection_kind;

typedef enum selection_comparison {
    SELECT_LESS,
    SELECT_LESS_EQUAL,
    SELECT_GREATER,
    SELECT_GREATER_EQUAL,
    SELECT_EQUAL,
    SELECT_NOT_EQUAL,
} selection_comparison;

typedef struct selection_step {
    selection_code code;
    selection_kind kind;
    selection_comparison comparison;
    double number;
    size_t first; /* index of the step's first item */
    size_t count;
} selection_step;

/* A range of numbers, or the position and length of a pattern in the text. */
typedef struct selection_item {
    int64_t low;
    int64_t high;
    char insertion; /* insertion code of the residue; 0: any */
    size_t start;
    size_t length;
} selection_item;

typedef struct trajectory_selection {
    char *text;
    selection_step *steps;
    selection_item *items;
    size_t n_steps;
    size_t n_items;
} trajectory_selection;
