/* SPDX-License-Identifier: Apache-2.0 */
/* array: transpose.
 * Tests: conformance/array/axes.c */
#include "array.h"

#include <stdlib.h>
#include <string.h>

#include "axes.h"
#include "shared/jit/runtime/view.h"

#include "transpose_params.h"
#include "shared/jit/texts.h"

static const jit_source source =
    JIT_SOURCE("transpose", jit_text_array_transpose_params, jit_text_array_transpose);

/* ---- Tiles --------------------------------------------------------------------------------- */

/* Matrices with fewer elements are not tiled. */
#define SMALL 128

typedef struct tile_kind {
    const char *options;
    int32_t bits; /* the logarithm of TILE */
} tile_kind;

/* Indexed by element size. With 16 bytes, 1024 elements would exceed the local memory of small devices. */
static const tile_kind kinds[17] = {[1] = {"-DELEMENT=u8 -DBYTES=1 -DTILE=4096", 12},
                                    [2] = {"-DELEMENT=u16 -DBYTES=2 -DTILE=2048", 11},
                                    [4] = {"-DELEMENT=u32 -DBYTES=4 -DTILE=1024", 10},
                                    [8] = {"-DELEMENT=u64 -DBYTES=8 -DTILE=1024", 10},
                                    [16] = {"-DELEMENT=b128 -DBYTES=16 -DTILE=512", 9}};
/* The axis with the input's smallest stride. */
static int32_t fast_in(const jit_axis *axes, int32_t count)
{
    int32_t fast = 0;
    for (int32_t i = 1; i < count; i++)
        if (llabs(axes[i].stride[1]) <= llabs(axes[fast].stride[1]))
            fast = i;
    return fast;
}

/* Makes a tile of TILE elements as square as the shape allows. */
static void shape_tile(tile_view *v, int32_t bits)
{
    v->column_bits = v->row_bits = 1;
    while (v->column_bits < bits / 2 && (int64_t)1 << v->column_bits < v->columns)
        v->column_bits++;
    while (v->row_bits < bits - v->column_bits && (int64_t)1 << v->row_bits < v->rows)
        v->row_bits++;
    v->column_bits = bits - v->row_bits;
}

/* Describes the tiles of a transposition: rows are along axis `fast`, columns along the last axis. Returns the number
 * of groups. */
static uint64_t view_tiles(tile_view *v, const jit_axis *axes, int32_t count, int32_t fast,
                           int32_t bits)
{
    const jit_axis *row = &axes[fast], *column = &axes[count - 1];
    memset(v, 0, sizeof *v);
    v->rows = row->extent;
    v->out_row = row->stride[0];
    v->in_row = row->stride[1];
    v->columns = column->extent;
    v->out_column = column->stride[0];
    v->in_column = column->stride[1];
    shape_tile(v, bits);
    v->across = (int64_t)jit_ceiling((uint64_t)v->columns, 1u << v->column_bits);
    v->down = (int64_t)jit_ceiling((uint64_t)v->rows, 1u << v->row_bits);
    uint64_t groups = (uint64_t)v->across * (uint64_t)v->down;
    for (int32_t i = 0; i < count - 1; i++) {
        if (i == fast)
            continue;
        v->extent[v->outer] = axes[i].extent;
        v->stride[0][v->outer] = axes[i].stride[0];
        v->stride[1][v->outer++] = axes[i].stride[1];
        groups *= (uint64_t)axes[i].extent;
    }
    return groups;
}

/* ---- Running ------------------------------------------------------------------------------- */

/* Copies along `axes`: the axes of `call`, reordered and merged. */
static collet_status copy_axes(collet_device *device, collet_queue *queue,
                               const collet_kernel_call *call, const jit_axis *axes, int32_t count)
{
    int64_t shape[COLLET_MAX_DIMS], strides[2][COLLET_MAX_DIMS];
    collet_operand operands[2] = {*operand_of(call, 0), *operand_of(call, 1)};
    collet_kernel_call copy = *call;
    for (int32_t i = 0; i < count; i++) {
        shape[i] = axes[i].extent;
        strides[0][i] = axes[i].stride[0];
        strides[1][i] = axes[i].stride[1];
    }
    for (int k = 0; k < 2; k++) {
        operands[k].ndim = count;
        operands[k].shape = shape;
        operands[k].strides = strides[k];
    }
    copy.operands = operands;
    copy.operand_size = sizeof *operands;
    return jit_copy(device, queue, &copy);
}

JIT_KERNEL(transpose)
{
    const collet_transpose_params *params = call->params;
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    jit_axis axes[COLLET_MAX_DIMS];
    for (int32_t i = 0; i < out->ndim; i++)
        axes[i] = (jit_axis){out->shape[i], {out->strides[i], in->strides[params->perm[i]]}};
    int32_t count = jit_axes_merge(axes, out->ndim, 1, 0), fast = fast_in(axes, count);
    const tile_kind *kind = &kinds[cpu_dtype_size(out->dtype)];
    /* For very small tiles a strided copy is faster. */
    if (fast >= count - 1 || axes[fast].extent * axes[count - 1].extent < SMALL)
        return copy_axes(device, queue, call, axes, count);
    jit_launch l;
    tile_view view;
    uint64_t groups = view_tiles(&view, axes, count, fast, kind->bits);
    jit_launch_begin(&l, &source, kind->options, "tiles");
    jit_pass_operand(&l, out);
    jit_pass_operand(&l, in);
    jit_pass_block(&l, &view, sizeof view);
    return jit_enqueue(device, queue, &l, groups, call->err);
}
