/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters shared by the md kernels. */
#ifndef COLLET_JIT_MD_COMMON_PARAMS_H
#define COLLET_JIT_MD_COMMON_PARAMS_H

/*
 * The location of an operand, in elements: row i, column j of body b in frame f is element first + f
 * frame + b body + i row + j step. An operand without the axis of frames has frame 0, without the
 * axis of bodies body 0, a vector row 0.
 */
typedef struct md_place {
    i64 first, frame, body, row, step;
} md_place;

/*
 * How atoms are divided. Row t is body t % bodies of frame t / bodies; its atoms are divided into
 * `blocks` of equal numbers, and each block has a team of 1 << team_bits adjacent items of a group,
 * which take its atoms cyclically. `atoms`: of a frame. The offsets of bodies are `offsets_step`
 * elements apart from element `offsets` on.
 */
typedef struct md_geometry {
    i64 rows, bodies, atoms, blocks;
    i64 offsets, offsets_step;
    i32 team_bits, unused;
} md_geometry;

#endif
