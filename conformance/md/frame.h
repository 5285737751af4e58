/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the oracle of one body in one frame of the md family. */
#pragma once

#include "kit.h"
#include "small.h"

/* Rounding unit of f64. Computed in f64, d = r - com has an error of about MD_UNIT |com|. */
#define MD_UNIT 0x1p-52L

/* The three numbers of row `i` of a tensor. */
void md_row(const kit_tensor *t, int64_t i, real out[3]);

/* The atoms of a row of the outputs: atoms first .. first + atoms - 1 of a frame. */
typedef struct md_part {
    int64_t row, frame, first, atoms;
} md_part;

/* The operand `offsets` of a case; NULL if the op has none or it is absent. */
const kit_tensor *md_offsets(const kit_case *c);
/* Rows of the outputs: frames times bodies. */
int64_t md_rows(const kit_case *c);
md_part md_part_of(const kit_case *c, int64_t row);
/* The mass of atom `atom` of the part's frame; 1 if `masses` is absent or NULL. */
real md_mass(const kit_tensor *masses, const md_part *part, int64_t atom);

/* Sums of one body, relative to `about`. Scales are sums of magnitudes. */
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
    real spread;                  /* sum m |r - r0|^2, r0 the body's first atom */
    real L_spread, torque_spread; /* sum m |r - r0| |v|, sum |r - r0| |f| */
    real away;                    /* |r0 - com| */
    real noise;                   /* the error of d from rounding com to f64 */
} md_frame;

/* Sums a part. masses, velocities and forces may be absent tensors or NULL. Without masses all masses are 1; without
 * velocities or forces their sums are 0. `about` = NULL: relative to the centre of mass. */
md_frame md_frame_of(const md_part *part, const kit_tensor *positions, const kit_tensor *masses,
                     const kit_tensor *velocities, const kit_tensor *forces, const real *about);

/* Replaces the scales of f64 results by the scales of f32 results, which do not depend on the first
 * atom: |com| + R, sum m d.d and sum |w| |v| (|d| + 2 R), with R the radius of gyration. `noise`, the
 * rounding error of d, grows to the error of a point that is stored as two f32 numbers: kernels measure d from such a point. */
void md_tighten(md_frame *frame);

/* Rotational energy 1/2 omega.L; *scale is its change for a relative error of `unit` in I and L,
 * divided by `unit`. NaN where anything is not finite. */
real md_rotational(const md_frame *frame, real unit, real *scale);
