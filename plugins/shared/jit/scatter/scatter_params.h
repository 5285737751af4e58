/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of the scatter kernels. */
#ifndef COLLET_JIT_SCATTER_SCATTER_PARAMS_H
#define COLLET_JIT_SCATTER_SCATTER_PARAMS_H

#define SCATTER_OPERANDS 9

/*
 * The location of an operand, in elements. An item is a voxel or a pixel and has an index on each
 * of three axes: Z, Y, X or E, Y, X. `step` has the operand's strides along these axes (0 if it does not have the
 * axis), `inner` the strides along its other axes, and `count` the extents of the other axes.
 */
typedef struct scatter_place {
    i64 first, step[3], inner[2], count[2];
} scatter_place;

typedef struct scatter_job {
    i64 items;
    i64 extent[3];
    i64 nested[2]; /* the extents of the axis along which items are adjacent, and of the next axis */
    i32 rank[3];   /* 0 for the axis along which items are adjacent, 1 for the next axis, 2 for the last */
    i32 halved;    /* 1: the spectra are half spectra */
    i32 nearest, neighbours, mask, unused;
    i64 layer, layers;
#if defined(HAVE_F64) && !HAVE_F64
    i64 aspect, thickness, limit, centre[2]; /* unused: without f64 there is no kernel that reads them */
#else
    f64 aspect;
    f64 thickness, limit; /* limit < 0: none */
    f64 centre[2];        /* row and column about which images turn */
#endif
    scatter_place at[SCATTER_OPERANDS];
} scatter_job;

#endif
