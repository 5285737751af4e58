/* SPDX-License-Identifier: Apache-2.0 */
/* Views: operands of the same shape with any strides (view.h). */
#ifndef COLLET_JIT_RUNTIME_VIEW_PARAMS_H
#define COLLET_JIT_RUNTIME_VIEW_PARAMS_H

#define VIEW_DIMS 8 /* COLLET_MAX_DIMS */
#ifndef VIEW_OPERANDS
#define VIEW_OPERANDS 3
#endif

/* Strides in elements: `step` along the last axis, `stride` along the other axes. */
typedef struct view_operand {
    i64 step;
    i64 stride[VIEW_DIMS];
} view_operand;

/*
 * The operands have `rows` rows of `columns` elements along the last axis. A group covers
 * 1 << column_bits columns of several rows, one element per item; `across` groups cover a row.
 */
typedef struct jit_view {
    i64 rows, columns, across;
    i64 extent[VIEW_DIMS];
    i32 outer; /* axes before the last */
    i32 column_bits;
    view_operand operand[VIEW_OPERANDS];
} jit_view;

/* Items along one side of the tile of a group of 1 << b items: 1 << b / 2, up to 16. */
#define TILE_ACROSS(group)                                                                         \
    ((group) >= 256 ? 16 : (group) >= 64 ? 8 : (group) >= 16 ? 4 : (group) >= 4 ? 2 : 1)

#endif
