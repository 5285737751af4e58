/* SPDX-License-Identifier: Apache-2.0 */
/* md.h - shared by the md family: kinds of molecules and the oracle of one frame. */
#ifndef CONFORMANCE_MD_MD_H
#define CONFORMANCE_MD_MD_H

#include "kit.h"
#include "small.h"

/* Kinds of molecules. */
enum {
    MD_RANDOM,
    MD_FAR,        /* far from the origin */
    MD_COLLINEAR,  /* exactly on a line */
    MD_COINCIDENT, /* all atoms at one position */
    MD_GHOSTS,     /* half of the masses are zero */
    MD_MASSLESS,   /* all masses are zero */
    MD_POISONED,   /* a NaN in the middle frame */
    MD_LOST,       /* the first atom, a light one, far from the others in every other frame */
    MD_KINDS
};
extern const char *const md_kind_names[MD_KINDS];

/* Rounding unit of f64; d = r - com in f64 has an error of that much of |com|. */
#define MD_UNIT 0x1p-52L

/* Fills positions (input 0) and masses (input 1) if present. */
void md_generate_atoms(kit_case *c, kit_rng *rng);
/* Normally distributed parts; does nothing to an absent operand. */
void md_generate_normal(kit_tensor *t, kit_rng *rng);

static inline const kit_limit *md_limit(const kit_case *c, const char *quantity)
{
    return kit_limit_find(c->row->info.id, COLLET_F64, quantity);
}

/* Row `i` of three of a tensor. */
void md_row(const kit_tensor *t, int64_t i, real out[3]);

/* Sums of one frame, relative to `about`. Scales are sums of magnitudes. */
typedef struct md_frame {
    real mass, com[3], com_scale[3];
    real about[3];
    real inertia[9], inertia_scale; /* sum m d.d */
    real tensor[9];                 /* sum m d d^T */
    real momentum[3], momentum_scale;
    real L[3], L_scale;
    real force[3], force_scale;
    real torque[3], torque_scale;
    real vis_viva;                /* sum m v.v */
    real spread;                  /* sum m |r - r0|^2, r0 the first atom */
    real L_spread, torque_spread; /* sum m |r - r0| |v|, sum |r - r0| |f| */
    real distance;                /* |com| */
} md_frame;

/* Frame f; masses, velocities and forces may be absent tensors or NULL (masses: all 1; the others:
 * left 0). `about` NULL: the com. */
md_frame md_frame_of(int64_t f, const kit_tensor *positions, const kit_tensor *masses,
                     const kit_tensor *velocities, const kit_tensor *forces, const real *about);

/* Rotational energy 1/2 omega.L; *scale is its change for a relative error of `unit` in I and L,
 * divided by `unit`. NaN where anything is not finite. */
real md_rotational(const md_frame *frame, real unit, real *scale);

/* A case of the op's patterns with F frames and N atoms. */
kit_case md_case(const kit_plan *plan, int64_t frames, int64_t atoms, int kind);
/* Emits frames x atoms of the usual sizes, kinds of molecules, layouts, sharing, parts, a big
 * case. */
void md_plan_atoms(kit_plan *plan);
/* The same without the operands of the mask `absent`. */
void md_plan_atoms_without(kit_plan *plan, uint32_t absent);

#endif
