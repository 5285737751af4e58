/* SPDX-License-Identifier: Apache-2.0 */
/* md.h - for the md family: kinds of molecules, and cases with them. */
#pragma once

#include "frame.h"

/* Kinds of molecules. */
enum {
    MD_RANDOM,
    MD_FAR,        /* far from the origin */
    MD_COLLINEAR,  /* exactly on a line */
    MD_COINCIDENT, /* all atoms at one position */
    MD_GHOSTS,     /* half of the masses are zero */
    MD_MASSLESS,   /* all masses are zero */
    MD_POISONED,   /* a NaN in the middle frame */
    MD_LOST,       /* in every second frame the first atom, which is light, is far away */
    MD_CHOSEN,     /* half of the masses, at random, and all of frame 1 are zero */
    MD_DISTANT,    /* at the largest coordinates that are allowed; nearly all atoms in the first body */
    MD_KINDS
};
extern const char *const md_kind_names[MD_KINDS];

/* Fills positions (input 0), and masses (input 1) and offsets if present. */
void md_generate_atoms(kit_case *c, kit_rng *rng);
/* Normally distributed parts; does nothing to an absent operand. */
void md_generate_normal(kit_tensor *t, kit_rng *rng);

static inline const kit_limit *md_limit(const kit_case *c, const char *quantity)
{
    return kit_limit_find(c->row->info.id, c->operand[0].dtype, quantity);
}

/* A case of the op's patterns with F frames and N atoms, without offsets, masses N. */
kit_case md_case(const kit_plan *plan, int64_t frames, int64_t atoms, int kind);
/* Emits cases with the usual numbers of frames, atoms and bodies, with masses N and F x N, all
 * kinds of molecules, layouts, sharing and parts, and a big case. */
void md_plan_atoms(kit_plan *plan);
/* Like md_plan_atoms, without the operands of the mask `absent`. */
void md_plan_atoms_without(kit_plan *plan, uint32_t absent);
