/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the kernels of reduce.dev. */
#ifndef COLLET_JIT_ARRAY_REDUCE_PARAMS_H
#define COLLET_JIT_ARRAY_REDUCE_PARAMS_H

#ifndef INPUTS
#define INPUTS 8 /* COLLET_PROGRAM_INPUTS */
#endif
/* The parts of complex numbers form a separate axis. */
#define REDUCE_DIMS (VIEW_DIMS + 1)

/* reduce_view.pass. ONCE: the only pass, or the pass that computes the means. VARIANCE and DEVIATION: the second pass,
 * which sums the squared distances from the means; DEVIATION also takes the square root. */
#define REDUCE_ONCE 0
#define REDUCE_VARIANCE 1
#define REDUCE_DEVIATION 2

typedef struct reduce_view {
    /* Reduced elements: `rows` rows of `columns`, divided into parts of part_rows by part_columns,
     * `across` per row. */
    i64 rows, columns, part_rows, part_columns, parts, across;
    /* Kept elements, and the groups that cover them. */
    i64 kept, groups;
    /* The axes of kept elements, then the axes of rows; the axis of columns is column_axis. */
    i32 kept_axes, row_axes, column_axis;
    /* A group has 1 << kept_bits kept elements and divides its items among them, 1 << column_bits per row.
     * kept_adjacent: adjacent items have adjacent kept elements; else adjacent reduced elements. */
    i32 kept_bits, column_bits, kept_adjacent;
    i32 negated; /* max is -min(-x) */
    i32 pass;
    i64 extent[REDUCE_DIMS];
    /* The strides of kept axes in the output, and the strides of reduced axes in the index of an element. The index
     * counts elements in C order of the inputs' reduced axes. */
    i64 result[REDUCE_DIMS];
    i64 stride[INPUTS][REDUCE_DIMS];
} reduce_view;

#endif
