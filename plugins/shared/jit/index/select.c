/* SPDX-License-Identifier: Apache-2.0 */
/* index: compress, place and nonzero.
 * Tests: conformance/index/pick.c */
#include "index.h"

#include "shared/host/index/keys.h"
#include "shared/jit/runtime/rows.h"
#include "shared/jit/texts.h"

static const jit_source source =
    JIT_SOURCE("select", jit_text_index_index_params, jit_text_index_index, jit_text_index_select);

static const collet_operand *mask_of(const collet_kernel_call *call)
{
    return operand_of(call, call->op == COLLET_OP_NONZERO ? 2 : 3);
}

/* The number of groups that read the mask; each has a count at the start of the workspace. */
static uint64_t blocks_of(const jit_traits *t, const collet_kernel_call *call)
{
    return jit_ceiling((uint64_t)operand_count(mask_of(call)), (uint64_t)t->group * SELECT_EACH);
}

/* The length of the list of true elements: as many as the output has room for; 0 if the op needs no list. */
static int64_t listed(const collet_kernel_call *call)
{
    const collet_operand *out = operand_of(call, 0);
    int none = call->op == COLLET_OP_PLACE || (call->op == COLLET_OP_COMPRESS && out->ndim == 1);
    return none ? 0 : operand_extent(out, 0);
}

JIT_ACCEPTS(select)
{
    *workspace_bytes =
        (blocks_of(jit_traits_of(device), call) + (uint64_t)listed(call)) * sizeof(int64_t);
    return COLLET_OK;
}

/* Begins a kernel that reads the mask. */
static void begin(jit_launch *l, const jit_sequence *s, const index_walk *m, const char *kernel)
{
    const collet_operand *mask = mask_of(s->call);
    jit_launch_begin(l, &source, "", kernel);
    jit_pass_operand(l, mask);
    jit_pass_i32(l, (int32_t)cpu_dtype_size(mask->dtype));
    jit_pass_u64(l, index_bits_that_count(mask->dtype));
    jit_pass_block(l, m, sizeof *m);
    jit_pass_buffer(l, s->call->workspace);
}

/* Computes the counts, their sum (operand 1) and, after the counts in the workspace, the list. */
static void find(jit_sequence *s, const index_walk *m)
{
    uint64_t blocks = blocks_of(s->traits, s->call);
    jit_launch l;
    begin(&l, s, m, "count");
    jit_sequence_enqueue(s, &l, blocks);
    jit_launch_begin(&l, &source, "", "add_up");
    jit_pass_buffer(&l, s->call->workspace);
    jit_pass_i64(&l, (int64_t)blocks);
    jit_pass_operand(&l, operand_of(s->call, 1));
    jit_sequence_enqueue(s, &l, 1);
    if (!listed(s->call))
        return;
    begin(&l, s, m, "list");
    jit_pass_i64s(&l, (int64_t)blocks, listed(s->call));
    jit_sequence_enqueue(s, &l, blocks);
}

static void pass_list(jit_launch *l, const jit_sequence *s)
{
    jit_pass_buffer(l, s->call->workspace);
    jit_pass_u64(l, blocks_of(s->traits, s->call));
    jit_pass_operand(l, operand_of(s->call, 1));
}

JIT_KERNEL(compress)
{
    const collet_operand *out = operand_of(call, 0), *a = operand_of(call, 2);
    jit_sequence s = jit_sequence_of(device, queue, call);
    jit_axis axes[COLLET_MAX_DIMS];
    int32_t last = out->ndim - 1;
    index_walk m, w;
    jit_launch l;
    index_walk_over(&m, mask_of(call));
    find(&s, &m);
    if (!last) {
        begin(&l, &s, &m, "pick");
        jit_pass_operand(&l, operand_of(call, 1));
        jit_pass_operand(&l, out);
        jit_pass_i64s(&l, index_step(out), operand_extent(out, 0));
        jit_pass_operand(&l, a);
        jit_pass_i64(&l, index_step(a));
        jit_pass_i32(&l, (int32_t)cpu_dtype_size(out->dtype));
        uint64_t blocks = blocks_of(s.traits, call);
        jit_sequence_enqueue(&s, &l, blocks ? blocks : 1);
        return s.status;
    }
    for (int32_t i = 0; i < last; i++)
        axes[i] = (jit_axis){out->shape[i], {out->strides[i], a->strides[i], 0}};
    axes[last] = (jit_axis){out->shape[last], {index_step(out), 0, 1}};
    index_walk_of(&w, axes, out->ndim, 3, 1);
    jit_launch_begin(&l, &source, "", "compress");
    jit_pass_operand(&l, out);
    jit_pass_operand(&l, a);
    jit_pass_i64(&l, index_step(a));
    pass_list(&l, &s);
    jit_pass_i32(&l, (int32_t)cpu_dtype_size(out->dtype));
    jit_pass_block(&l, &w, sizeof w);
    jit_sequence_enqueue(&s, &l, jit_groups(s.traits, (uint64_t)w.count));
    return s.status;
}

JIT_KERNEL(nonzero)
{
    const collet_operand *out = operand_of(call, 0), *mask = mask_of(call);
    jit_sequence s = jit_sequence_of(device, queue, call);
    index_walk m, shape = {.axes = mask->ndim};
    jit_launch l;
    index_walk_over(&m, mask);
    find(&s, &m);
    for (int32_t i = 0; i < mask->ndim; i++)
        shape.extent[i] = mask->shape[i];
    jit_launch_begin(&l, &source, "", "nonzero");
    jit_pass_operand(&l, out);
    jit_pass_i64s(&l, out->strides[0], index_step(out), operand_extent(out, 0));
    pass_list(&l, &s);
    jit_pass_block(&l, &shape, sizeof shape);
    jit_sequence_enqueue(&s, &l, jit_groups(s.traits, (uint64_t)operand_extent(out, 0)));
    return s.status;
}

JIT_KERNEL(place)
{
    const collet_operand *out = operand_of(call, 0), *values = operand_of(call, 4);
    jit_sequence s = jit_sequence_of(device, queue, call);
    index_walk m, w;
    jit_launch l;
    index_walk_over(&m, mask_of(call));
    index_walk_over(&w, out);
    find(&s, &m);
    index_copy(&s, out, operand_of(call, 2));
    begin(&l, &s, &m, "place");
    jit_pass_operand(&l, out);
    jit_pass_operand(&l, values);
    jit_pass_i64s(&l, index_step(values), operand_extent(values, 0));
    jit_pass_i32(&l, (int32_t)cpu_dtype_size(out->dtype));
    jit_pass_block(&l, &w, sizeof w);
    jit_sequence_enqueue(&s, &l, blocks_of(s.traits, call));
    return s.status;
}
