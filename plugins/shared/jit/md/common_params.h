/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters shared by the md kernels. */
#ifndef COLLET_JIT_MD_COMMON_PARAMS_H
#define COLLET_JIT_MD_COMMON_PARAMS_H

/*
 * The location of an operand, in elements: row i, column j of body b in frame f is element first + f * frame +
 * b * body + i * row + j * step. The stride `frame` is 0 if the operand has no axis of frames, `body` is 0 if it has
 * no axis of bodies, and `row` is 0 if it is a vector.
 */
typedef struct md_place {
    i64 first, frame, body, row, step;
} md_place;

/*
 * How atoms are divided. Row t is body t % bodies of frame t / bodies. A row's atoms are divided into `blocks` blocks
 * with equal numbers of atoms. Each block has a team of 1 << team_bits adjacent items of a group, which take the
 * block's atoms in turn. A frame has `atoms` atoms. The offsets of bodies begin at element `offsets` and are
 * `offsets_step` elements apart.
 */
typedef struct md_geometry {
    i64 rows, bodies, atoms, blocks;
    i64 offsets, offsets_step;
    i32 team_bits, unused;
} md_geometry;

#endif
