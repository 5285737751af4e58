/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernels of the family index. */
#ifndef COLLET_JIT_INDEX_INDEX_PARAMS_H
#define COLLET_JIT_INDEX_INDEX_PARAMS_H

/* The parts of complex numbers form a separate axis. */
#define INDEX_DIMS (VIEW_DIMS + 1)
#define INDEX_OPERANDS 4

/* A walk: `count` elements in C order of the axes, with the strides of several operands. */
typedef struct index_walk {
    i64 count;
    i64 extent[INDEX_DIMS];
    i64 stride[INDEX_OPERANDS][INDEX_DIMS];
    i32 axes, unused;
} index_walk;

/* How elements are mapped to unsigned integers of the same order: index_order of shared/host/index/keys.h. */
typedef struct sort_order {
    u64 bias, negated, greatest, infinity, zero, flip;
    i32 sign, boolean, size, unused;
} sort_order;

/* Elements per item, when a group sorts rows in local memory because they fit there. */
#define SORT_EACH 8
/* Bytes of local memory that such a group needs: 64-bit keys and their places; twice as much if
 * its items run in sequence. */
#define SHORT_ROWS_LOCAL(group, serial) ((group) * SORT_EACH * 10u * ((serial) ? 2 : 1))

/* Bytes of keys, or of indices, that an item moves in a pass of radix.dev. */
#define RADIX_BYTES 64
/* An upper bound of the local memory of a group in radix.dev. */
#define RADIX_LOCAL(group) ((group) * (RADIX_BYTES + 32) + 6144)

/* Special values for where a pass reads and writes; other values are byte offsets in the workspace. */
#define RADIX_OPERAND (-1)
#define RADIX_NONE (-2)

/* A pass sorts rows of n elements by one digit. `blocks` groups work on a row, each on `share` elements. */
typedef struct radix_pass {
    index_walk walk; /* over the rows; its operands are out and in */
    sort_order order;
    i64 row, n, blocks, share, out_step, in_step;
    i64 keys_from, keys_to, indices_from, indices_to, counts, totals;
    i32 shift, mask; /* the digit of a key */
} radix_pass;

/* Elements of a mask that an item reads. */
#define SELECT_EACH 16

/* Elements that an item scans. */
#define SCAN_EACH 8

/* The type of the numbers. i64 and u64 are both NUMBER_WORD. */
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

/* How scatter_add adds: an integer type is given by its size in bytes, floating-point types by these numbers. */
#define ADD_F32 32
#define ADD_F64 64

#endif
