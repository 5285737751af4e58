/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernels of reduce.dev. */
#ifndef COLLET_JIT_ARRAY_REDUCE_PARAMS_H
#define COLLET_JIT_ARRAY_REDUCE_PARAMS_H

/* The parts of complex numbers form a separate axis. */
#define KEPT_DIMS (VIEW_DIMS + 1)

typedef struct reduce_view {
    /* Reduced elements: `rows` rows of `columns`, column_step apart, divided into parts of
     * part_rows by part_columns, `across` per row. Elements of a row differ by column_index in
     * their index, which counts the reduced elements in the order of the input's axes. */
    i64 rows, columns, column_step, column_index;
    i64 part_rows, part_columns, parts, across;
    /* Kept elements, and the groups that cover them. */
    i64 kept, groups;
    i64 row_extent[VIEW_DIMS], row_stride[VIEW_DIMS], row_index[VIEW_DIMS];
    i64 kept_extent[KEPT_DIMS], kept_stride[2][KEPT_DIMS]; /* output, input */
    i32 row_axes, kept_axes;
    /* A group has 1 << kept_bits kept elements and divides its items among them, 1 << column_bits
     * per row. Adjacent items have adjacent kept elements or adjacent reduced ones. */
    i32 kept_bits, column_bits, kept_adjacent;
    i32 negated; /* max is -min(-x) */
} reduce_view;

#endif
