/* SPDX-License-Identifier: Apache-2.0 */
/* interactions.h - the interactions of GROMACS in the order in which .tpr files have them. */
#pragma once

#include <stddef.h>

/* Which of an interaction's atoms count as bonded. */
typedef enum trajectory_joins {
    TRAJECTORY_JOINS_NONE,
    TRAJECTORY_JOINS_PAIR, /* the first and the second */
    TRAJECTORY_JOINS_SETTLE, /* the first atom and each of the other two; before version 78 the file has
                                only the first atom, and the other two are the next two atoms */
    TRAJECTORY_JOINS_SITE /* the virtual site, and the first of the atoms in its consecutive entries */
} trajectory_joins;

/* An interaction. Sizes are numbers of integers and reals of its parameters. */
typedef struct trajectory_interaction {
    int since;           /* first version of the format that has the interaction; 0: all versions */
    int integers, reals; /* -1: the interaction has no parameters, and no file names it */
    int changed;         /* the first version in which the sizes differ; 0: there is no such version */
    int new_integers, new_reals;
    int atoms; /* number of atoms in each entry; needed if some are joined */
    trajectory_joins joins;
} trajectory_interaction;

/* Returns row `i` of the list; NULL beyond its end. */
const trajectory_interaction *trajectory_interaction_at(size_t i);

/* Returns the interaction that a file of this version gives the number `number`; NULL if there is none. */
const trajectory_interaction *trajectory_interaction_find(int number, int version);

/* Sets the sizes of the parameters in a file of this version. Returns 0 if the interaction has no parameters. */
int trajectory_interaction_sizes(const trajectory_interaction *interaction, int version,
                                 int *integers, int *reals);
