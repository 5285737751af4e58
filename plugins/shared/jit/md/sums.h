/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - the sums over the atoms of each body in each frame, and what follows from them, as
 * launches.
 *
 * Each body is read once. It has one team of adjacent items, several teams per group if bodies are
 * small; large and few bodies have several teams (blocks). Sums are taken about the body's first
 * atom and moved to the centre of mass; bodies so far from it that digits would be lost are listed
 * and summed again about their centres.
 */
#ifndef PLUGINS_SHARED_JIT_MD_SUMS_H
#define PLUGINS_SHARED_JIT_MD_SUMS_H

#include "place.h"
#include "sums_params.h"

/* `offsets` NULL or absent: one body a frame. */
md_geometry md_geometry_of(const jit_traits *t, int64_t frames, int64_t atoms,
                           const collet_operand *offsets);
/* Groups for all blocks of all rows. */
uint64_t md_geometry_groups(const md_geometry *g, const jit_traits *t);

/* ---- Sums ---------------------------------------------------------------------------------- */

/* Absent operands may be NULL. Without masses each mass is 1. */
typedef struct md_sums {
    uint32_t what;
    int moves; /* to the centre of mass; else the sums are about `origins` */
    const collet_operand *positions;
    const collet_operand *masses;
    const collet_operand *velocities;
    const collet_operand *forces;
    const collet_operand *origins;
    const collet_operand *offsets;
    const collet_operand *results[MD_RESULTS];
} md_sums;

/* Workspace in numbers of 8 bytes: f64, or pairs of f32. */
uint64_t md_sums_workspace(const md_geometry *g);

/* Enqueues the sums and their results; the workspace is used from number `first` on. */
void md_sums_run(jit_sequence *q, const md_sums *s, int64_t first);

/* Enqueues the total over the blocks of each row: sums of `partial` to sums of `totals`, both numbers
 * of the workspace. `list`: i32s of the workspace, the rows to process; -1: all. `set`: bit k is sum
 * k. */
void md_gather(jit_sequence *q, const md_geometry *g, int64_t partial, int64_t totals, int64_t list,
               uint32_t set);

/* Index of a program by the types of positions and masses: f32 f32, f32 f64, f64 f64; without
 * masses, by positions only. */
uint32_t md_types(const collet_operand *positions, const collet_operand *masses);

#endif
