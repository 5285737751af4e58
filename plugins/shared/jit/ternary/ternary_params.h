/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters shared by the kernels that convert between weights, codes and packed bytes. */
#ifndef COLLET_JIT_TERNARY_TERNARY_PARAMS_H
#define COLLET_JIT_TERNARY_TERNARY_PARAMS_H

/*
 * The rows are along the last axis of the operands. A unit is a part of a row: `width` of its `columns` elements.
 * A row has `parts` units, and 1 << bits items of a group share a unit.
 */
typedef struct row_view {
    i64 units, columns, parts, width;
    i32 bits, with_scale;
    jit_batch v;
} row_view;

#define T2_BLOCK 256      /* weights per t2 block */
#define T2_BLOCK_BYTES 64 /* bytes per t2 block */

/* Packed formats: COLLET_TERNARY_* of collet/types.h. */
#define T2 0
#define PLANES 1
#define ROTOR 2
#define TQ2_0 3
#define TQ1_0 4

#endif
