/* SPDX-License-Identifier: Apache-2.0 */
/* index: take, take_along_axis, put and scatter_add.
 * Tests: conformance/index/pick.c */
#include "index.h"

#include "shared/jit/runtime/rows.h"
#include "shared/jit/texts.h"

static const jit_source source =
    JIT_SOURCE("pick", jit_text_index_index_params, jit_text_index_index, jit_text_index_pick);

/* The most groups that check indices; each has a word at the start of the workspace. */
#define CHECKS 512
#define CHECKED 32 /* minimum number of indices per item */

static uint64_t check_groups(const jit_traits *t, const collet_operand *index)
{
    uint64_t groups = jit_ceiling((uint64_t)operand_count(index), (uint64_t)t->group * CHECKED);
    return groups < 1 ? 1 : groups > CHECKS ? CHECKS : groups;
}

static void pass_index(jit_launch *l, const collet_operand *index)
{
    jit_pass_operand(l, index);
    jit_pass_i32(l, (int32_t)cpu_dtype_size(index->dtype));
}

/* Sets `info`, operand 1 of the call. */
static void check(jit_sequence *s, const collet_operand *index, int64_t extent)
{
    const collet_operand *info = operand_of(s->call, 1);
    uint64_t groups = check_groups(s->traits, index);
    index_walk w;
    jit_launch l;
    index_walk_over(&w, index);
    jit_launch_begin(&l, &source, "", "check");
    pass_index(&l, index);
    jit_pass_i64(&l, extent);
    jit_pass_block(&l, &w, sizeof w);
    jit_pass_buffer(&l, s->call->workspace);
    jit_pass_operand(&l, info);
    jit_sequence_enqueue(s, &l, groups);
    if (groups == 1)
        return;
    jit_launch_begin(&l, &source, "", "report");
    jit_pass_buffer(&l, s->call->workspace);
    jit_pass_i64s(&l, (int64_t)groups, w.count);
    jit_pass_operand(&l, info);
    jit_sequence_enqueue(s, &l, 1);
}

/* ---- take, take_along_axis ------------------------------------------------------------------- */

JIT_ACCEPTS(take)
{
    const collet_operand *index = operand_of(call, 3);
    uint64_t groups = check_groups(jit_traits_of(device), index);
    *workspace_bytes = groups > 1 ? groups * sizeof(int64_t) : 0;
    return COLLET_OK;
}

/* take and take_along_axis; they differ in the axes of the indices. */
JIT_KERNEL(take)
{
    const collet_operand *out = operand_of(call, 0), *a = operand_of(call, 2);
    const collet_operand *index = operand_of(call, 3);
    jit_sequence s = jit_sequence_of(device, queue, call);
    jit_axis axes[COLLET_MAX_DIMS];
    int32_t last = out->ndim - 1;
    index_walk w;
    jit_launch l;
    for (int32_t i = 0; i < last; i++)
        axes[i] =
            (jit_axis){out->shape[i],
                       {out->strides[i], a->strides[i], index->ndim > 1 ? index->strides[i] : 0}};
    axes[last] = (jit_axis){out->shape[last], {index_step(out), 0, index_step(index)}};
    index_walk_of(&w, axes, out->ndim, 3, 1);
    check(&s, index, operand_extent(a, 0));
    jit_launch_begin(&l, &source, "", "take");
    jit_pass_operand(&l, out);
    jit_pass_operand(&l, a);
    pass_index(&l, index);
    jit_pass_i64s(&l, operand_extent(a, 0), index_step(a));
    jit_pass_i32(&l, (int32_t)cpu_dtype_size(out->dtype));
    jit_pass_block(&l, &w, sizeof w);
    jit_sequence_enqueue(&s, &l, jit_groups(s.traits, (uint64_t)w.count));
    return s.status;
}

/* ---- put, scatter_add ------------------------------------------------------------------------ */

/* The workspace: the words of `check`, followed by the pairs. */
JIT_ACCEPTS(write)
{
    int64_t count = operand_extent(operand_of(call, 3), 0);
    *workspace_bytes = sizeof(int64_t) * CHECKS + index_pair_bytes(jit_traits_of(device), count);
    return COLLET_OK;
}

/* Sets `info`, copies a to out, and sorts the pairs. Returns the word of the workspace where the pairs begin. */
static int64_t begin_writes(jit_sequence *s)
{
    const collet_operand *out = operand_of(s->call, 0), *index = operand_of(s->call, 3);
    int64_t extent = operand_extent(out, 0), count = operand_extent(index, 0);
    jit_launch l;
    check(s, index, extent);
    index_copy(s, out, operand_of(s->call, 2));
    jit_launch_begin(&l, &source, "", "positions");
    jit_pass_operand(&l, index);
    jit_pass_i64(&l, index_step(index));
    jit_pass_i32(&l, (int32_t)cpu_dtype_size(index->dtype));
    jit_pass_i64s(&l, extent, count);
    jit_pass_buffer(&l, s->call->workspace);
    jit_pass_i64(&l, CHECKS);
    jit_sequence_enqueue(s, &l, jit_groups(s->traits, (uint64_t)count));
    int32_t bits = 1;
    while (extent >> bits)
        bits++;
    return index_sort_pairs(s, CHECKS, count, bits);
}

/* Passes the arguments that put and scatter_add have in common. */
static void pass_write(jit_launch *l, const jit_sequence *s, const collet_operand *out,
                       const collet_operand *values, int32_t kind, int64_t pairs)
{
    jit_pass_operand(l, out);
    jit_pass_i64(l, index_step(out));
    jit_pass_operand(l, values);
    jit_pass_i64s(l, index_step(values), operand_extent(out, 0), operand_extent(values, 0));
    jit_pass_i32(l, kind);
    jit_pass_buffer(l, s->call->workspace);
    jit_pass_i64(l, pairs);
}

JIT_KERNEL(put)
{
    const collet_operand *out = operand_of(call, 0), *values = operand_of(call, 4);
    jit_sequence s = jit_sequence_of(device, queue, call);
    int64_t pairs = begin_writes(&s);
    jit_launch l;
    jit_launch_begin(&l, &source, "", "put");
    pass_write(&l, &s, out, values, (int32_t)cpu_dtype_size(out->dtype), pairs);
    jit_sequence_enqueue(&s, &l, jit_groups(s.traits, (uint64_t)operand_extent(values, 0)));
    return s.status;
}

/* Views complex numbers as real numbers with one more axis, for the real and the imaginary part. */
static collet_operand parts_of(const collet_operand *o, int64_t strides[COLLET_MAX_DIMS])
{
    collet_operand parts = *o;
    parts.dtype = part_of(o->dtype);
    parts.strides = strides;
    for (int32_t i = 0; i < o->ndim; i++)
        strides[i] = o->strides[i] * (parts.dtype == o->dtype ? 1 : 2);
    return parts;
}

JIT_KERNEL(scatter_add)
{
    int64_t strides[2][COLLET_MAX_DIMS];
    const collet_operand out = parts_of(operand_of(call, 0), strides[0]);
    const collet_operand values = parts_of(operand_of(call, 4), strides[1]);
    jit_sequence s = jit_sequence_of(device, queue, call);
    int64_t pairs = begin_writes(&s);
    jit_axis axes[INDEX_DIMS];
    int32_t last = out.ndim - 1;
    index_walk w;
    jit_launch l;
    for (int32_t i = 0; i < last; i++)
        axes[i] = (jit_axis){out.shape[i], {out.strides[i], out.strides[i], values.strides[i], 0}};
    axes[last] = (jit_axis){operand_extent(&values, 0), {index_step(&out), 0, 0, 1}};
    axes[last + 1] = (jit_axis){out.dtype == operand_of(call, 0)->dtype ? 1 : 2, {1, 1, 1, 0}};
    index_walk_of(&w, axes, out.ndim + 1, 4, 1);
    jit_launch_begin(&l, &source, "", "scatter_add");
    pass_write(&l, &s, &out, &values,
               out.dtype == COLLET_F32   ? ADD_F32
               : out.dtype == COLLET_F64 ? ADD_F64
                                         : (int32_t)cpu_dtype_size(out.dtype),
               pairs);
    jit_pass_block(&l, &w, sizeof w);
    jit_sequence_enqueue(&s, &l, jit_groups(s.traits, (uint64_t)w.count));
    return s.status;
}
