/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sums.h - the sums over the atoms of each frame, and what follows from them, as launches.
 *
 * Each frame is read once. A frame has a team of adjacent items, several teams a group where
 * frames are small, and several teams (blocks) where frames are large and few. Sums are taken from
 * the frame's first atom and moved to the centre of mass; frames that lie so far from it that
 * digits would be lost are put on a list and summed again from their centres.
 */
#ifndef COLLET_JIT_MD_SUMS_H
#define COLLET_JIT_MD_SUMS_H

#include "place.h"
#include "sums_params.h"

md_geometry md_geometry_of(const jit_traits *t, int64_t frames, int64_t atoms);
/* Groups that all blocks of all frames take. */
uint64_t md_geometry_groups(const md_geometry *g, const jit_traits *t);

/* ---- Sums ---------------------------------------------------------------------------------- */

/* Absent operands may be NULL. Without masses each is 1. */
typedef struct md_sums {
    uint32_t what;
    int moves; /* to the centre of mass; else the sums are about `origins` */
    const collet_operand *positions;
    const collet_operand *masses;
    const collet_operand *velocities;
    const collet_operand *forces;
    const collet_operand *origins;
    const collet_operand *results[MD_RESULTS];
} md_sums;

/* f64s of workspace. */
uint64_t md_sums_room(const jit_traits *t, int64_t frames, int64_t atoms);

/* Enqueues the sums and their results; the workspace is used from f64 `first` on. */
collet_status md_sums_run(collet_device *device, collet_queue *queue,
                          const collet_kernel_call *call, const md_sums *s, int64_t first);

/* Enqueues the total over the blocks of each frame: rows of `partial` to rows of `totals`, both
 * f64s of the workspace. `list`: i32s of the workspace, the frames to do; -1: all. `rows`: bit k
 * is row k. */
collet_status md_gather(collet_device *device, collet_queue *queue, const collet_kernel_call *call,
                        const md_geometry *g, int64_t partial, int64_t totals, int64_t list,
                        uint32_t rows);

/* Index of a program for positions and masses of these types: f32 f32, f32 f64, f64 f64; without
 * masses, of positions alone. */
uint32_t md_types(const collet_operand *positions, const collet_operand *masses);

#endif
