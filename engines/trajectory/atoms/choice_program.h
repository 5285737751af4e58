/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice_program.h - a selection applied to a topology; private to choice*.c.
 *
 * The choice is a program in postfix notation, like the selection's steps. Everything in it that does
 * not depend on positions is already computed. All sets have one byte for each atom of the topology.
 */
#pragma once

#include "groups.h"
#include "selection_steps.h"
#include "trajectory/formats/names.h"

#include <pthread.h>

typedef struct choice_node {
    selection_code code;       /* SELECT_ALL: pushes `may` */
    size_t left, right;        /* nodes of the operands; one operand: only `right` */
    uint8_t *may;              /* the atoms that some frame could select */
    uint8_t *must;             /* atoms that every frame selects; the same pointer as `may` for a fixed set */
    int64_t *labels, n_labels; /* labels of "same" */
    double distance;           /* nm, of "within" */
    uint8_t *domain; /* only during creation: atoms for which the result matters; NULL: all */
    int64_t *sources, *targets; /* sources and targets of "within": indices in `atoms` */
    int64_t n_sources, n_targets;
} choice_node;

struct choice_scratch;

typedef struct trajectory_choice {
    int64_t n_topology;
    choice_node *nodes;
    size_t n_nodes;
    size_t depth; /* maximum number of sets on the stack */
    int64_t *members, n_members;
    int64_t *atoms, n_atoms; /* atoms on whose positions the choice depends */
    pthread_mutex_t lock;    /* guards `idle` */
    struct choice_scratch *idle;
    /* Arguments of trajectory_choice_set_frames; NULL: not called. */
    collet_status (*choose)(void *user, uint8_t *chosen, int64_t index, collet_error *err);
    void *user;
} trajectory_choice;

/* Builds the nodes. COLLET_INVALID for a group or property that the topology lacks; COLLET_NO_MEMORY. */
collet_status choice_build(trajectory_choice *choice, const trajectory_selection *selection,
                           const trajectory_topology *topology, const trajectory_groups *groups,
                           collet_error *err);
void choice_free_node(choice_node *node);

/* 1 if a node selects the same atoms in every frame. */
static inline int choice_is_fixed(const choice_node *node)
{
    return node->may == node->must;
}

/* ---- Sets of n atoms ----------------------------------------------------------------------- */

void choice_invert(uint8_t *set, int64_t n);
/* Replaces `set` by SELECT_AND or SELECT_OR of `set` and `other`. */
void choice_join(selection_code code, uint8_t *set, const uint8_t *other, int64_t n);
/* Extends a set to all atoms that have the same label as an atom of the set; `marks`: one byte per label. */
void choice_spread(uint8_t *set, const int64_t *labels, int64_t n_labels, int64_t n,
                   uint8_t *marks);
/* NULL if out of memory. */
uint8_t *choice_copy(const uint8_t *set, int64_t n);

collet_status choice_no_memory(const trajectory_choice *choice, collet_error *err);
