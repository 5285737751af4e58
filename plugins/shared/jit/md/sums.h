/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - launches the sums over the atoms of each body in each frame, and the kernel that computes results from the
 * sums.
 *
 * Each body is read once, by a team of adjacent items. If bodies are small, a group has several teams; if bodies are
 * few and large, a body is divided into blocks, with one team per block. Sums are taken about the body's first
 * atom and moved to the centre of mass. If the centre is so far from the first atom that digits would be lost, the
 * body is listed and summed again about its centre.
 */
#pragma once

#include "place.h"
#include "sums_params.h"

/* If `offsets` is NULL or absent, a frame has one body. */
md_geometry md_geometry_of(const jit_traits *t, int64_t frames, int64_t atoms,
                           const collet_operand *offsets);
/* The number of groups for all blocks of all rows. */
uint64_t md_geometry_groups(const md_geometry *g, const jit_traits *t);

/* ---- Sums ---------------------------------------------------------------------------------- */

/* Operands that are absent may be NULL. Without masses, each mass is 1. */
typedef struct md_sums {
    uint32_t what;
    int moves; /* 1: sums are moved to the centre of mass; 0: they are about `origins` */
    const collet_operand *positions;
    const collet_operand *masses;
    const collet_operand *velocities;
    const collet_operand *forces;
    const collet_operand *origins;
    const collet_operand *offsets;
    const collet_operand *results[MD_RESULTS];
} md_sums;

/* The size of the workspace, in numbers of 8 bytes (f64, or pairs of f32). */
uint64_t md_sums_workspace(const md_geometry *g);

/* Enqueues the sums and their results; the workspace is used from number `first` on. */
void md_sums_run(jit_sequence *q, const md_sums *s, int64_t first);

/* Enqueues the kernel that adds up the sums of each row's blocks. `partial` (the sums) and `totals` (the results) are
 * offsets in the workspace, in numbers of 8 bytes. `list` is the offset, in i32s, of the list of rows to process; -1
 * for all rows. Bit k of `set` selects sum k. */
void md_gather(jit_sequence *q, const md_geometry *g, int64_t partial, int64_t totals, int64_t list,
               uint32_t set);

/* The index of the program for the types of positions and masses: 0 for f32 and f32, 1 for f32 and f64, 2 for f64 and
 * f64. Without masses their type counts as the type of positions. */
uint32_t md_types(const collet_operand *positions, const collet_operand *masses);
