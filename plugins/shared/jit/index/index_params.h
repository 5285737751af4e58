/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernels of the family index. */
#ifndef COLLET_JIT_INDEX_INDEX_PARAMS_H
#define COLLET_JIT_INDEX_INDEX_PARAMS_H

/* The parts of complex numbers form a separate axis. */
#define INDEX_DIMS (VIEW_DIMS + 1)
#define INDEX_OPERANDS 4

/* `count` elements, in C order of the axes, and the strides of several operands. */
typedef struct index_walk {
    i64 count;
    i64 extent[INDEX_DIMS];
    i64 stride[INDEX_OPERANDS][INDEX_DIMS];
    i32 axes, unused;
} index_walk;

/* How elements become unsigned integers that are in the same order: index_order of shared/host/index/keys.h. */
typedef struct sort_order {
    u64 bias, negated, greatest, infinity, zero, flip;
    i32 sign, boolean, size, unused;
} sort_order;

/* Pairs that an item sorts, and of the result of a merge that it writes; the second is the double of the
 * first. */
#define SORT_RUN 8
#define SORT_CHUNK 16

/* Elements of a mask that an item reads. */
#define SELECT_EACH 16

/* Elements that an item joins. */
#define SCAN_EACH 8

/* The type of numbers; i64 and u64 are one. */
#define NUMBER_BOOL 1
#define NUMBER_I8 2
#define NUMBER_U8 3
#define NUMBER_I16 4
#define NUMBER_U16 5
#define NUMBER_I32 6
#define NUMBER_U32 7
#define NUMBER_WORD 8
#define NUMBER_F32 9
#define NUMBER_F64 10

/* How scatter_add adds: integers by their size, and floating numbers. */
#define ADD_F32 32
#define ADD_F64 64

#endif
