/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernel of transpose.dev. */
#ifndef COLLET_JIT_ARRAY_TRANSPOSE_PARAMS_H
#define COLLET_JIT_ARRAY_TRANSPOSE_PARAMS_H

/* A group moves a tile of 1 << row_bits rows by 1 << column_bits columns. Rows are along the contiguous axis of the
 * input, columns along the contiguous axis of the output. */
typedef struct tile_view {
    i64 rows, columns, across, down;            /* extents; numbers of tiles along columns and rows */
    i64 out_row, out_column, in_row, in_column; /* strides */
    i64 extent[VIEW_DIMS];                      /* extents of the other axes */
    i64 stride[2][VIEW_DIMS];
    i32 outer, row_bits, column_bits, unused;
} tile_view;

#endif
