/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the scatter kernels. */
#ifndef COLLET_JIT_SCATTER_SCATTER_PARAMS_H
#define COLLET_JIT_SCATTER_SCATTER_PARAMS_H

#define SCATTER_OPERANDS 9

/*
 * The location of an operand, in elements. An item is a voxel or a pixel and has an index on each
 * of three axes: Z, Y, X or E, Y, X. `step` are the operand's strides along them (0: it has no such
 * axis), `inner` those along its other axes, `count` their extents.
 */
typedef struct scatter_place {
    i64 first, step[3], inner[2], count[2];
} scatter_place;

typedef struct scatter_job {
    i64 items;
    i64 extent[3];
    i64 nested[2]; /* extents of the axis along which items are adjacent, and of the next */
    i32 rank[3];   /* an axis's place in that order: 0, 1 or 2 */
    i32 halved;    /* the spectra are half spectra */
    i32 nearest, neighbours, mask, unused;
    i64 layer, layers;
#if defined(HAVE_F64) && !HAVE_F64
    i64 aspect; /* the mean over angles needs f64 */
#else
    f64 aspect;
#endif
    scatter_place at[SCATTER_OPERANDS];
} scatter_job;

#endif
