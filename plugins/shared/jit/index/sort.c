/* SPDX-License-Identifier: Apache-2.0 */
/* index: sort, argsort, partition and searchsorted.
 * Tests: conformance/index/sort.c, conformance/index/pick.c */
#include "index.h"

#include "shared/host/index/keys.h"
#include "shared/jit/runtime/rows.h"
#include "shared/jit/texts.h"

static const jit_source source =
    JIT_SOURCE("sort", jit_text_index_index_params, jit_text_index_index, jit_text_index_sort);

int64_t index_sort_pairs(jit_sequence *s, int64_t at, int64_t rows, int64_t n)
{
    int64_t runs = (int64_t)jit_ceiling((uint64_t)n, SORT_RUN), other = at + 2 * rows * n;
    int64_t chunks = (int64_t)jit_ceiling((uint64_t)n, SORT_CHUNK);
    jit_launch l;
    jit_launch_begin(&l, &source, "", "runs");
    jit_pass_buffer(&l, s->call->workspace);
    jit_pass_i64s(&l, at, rows, n, runs);
    jit_sequence_enqueue(s, &l, jit_groups(s->traits, (uint64_t)(rows * runs)));
    for (int64_t width = SORT_RUN; width < n; width *= 2) {
        jit_launch_begin(&l, &source, "", "merge");
        jit_pass_buffer(&l, s->call->workspace);
        jit_pass_i64s(&l, at, other, rows, n, chunks, width);
        jit_sequence_enqueue(s, &l, jit_groups(s->traits, (uint64_t)(rows * chunks)));
        int64_t filled = other;
        other = at;
        at = filled;
    }
    return at;
}

static sort_order order_of(collet_dtype dtype, int descending, int zeros)
{
    index_order o = index_order_of(dtype, descending, zeros);
    return (sort_order){.bias = o.bias,
                        .negated = o.negated,
                        .greatest = o.greatest,
                        .infinity = o.infinity,
                        .zero = o.zero,
                        .flip = o.flip,
                        .sign = o.sign,
                        .boolean = o.boolean,
                        .size = (int32_t)cpu_dtype_size(dtype)};
}

/* ---- sort, argsort, partition ---------------------------------------------------------------- */

/* Elements sorted at a time, unless a row has more. */
#define AT_ONCE (1 << 22)

typedef struct rows {
    index_walk walk; /* the last axis is the one that is sorted */
    int64_t n, rows, at_once;
} rows;

static void rows_of(rows *r, const collet_kernel_call *call)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    const collet_sort_params *sort = call->params;
    const collet_partition_params *partition = call->params;
    int32_t axis = call->op == COLLET_OP_PARTITION ? partition->axis : sort->axis, count = 0;
    jit_axis axes[COLLET_MAX_DIMS];
    axis = index_axis(in, axis);
    for (int32_t i = 0; i < in->ndim; i++)
        if (i != axis)
            axes[count++] = (jit_axis){in->shape[i], {out->strides[i], in->strides[i]}};
    axes[count++] = (jit_axis){in->shape[axis], {out->strides[axis], in->strides[axis]}};
    index_walk_of(&r->walk, axes, count, 2, 0);
    r->n = in->shape[axis];
    r->rows = r->n ? r->walk.count / r->n : 0;
    r->at_once = r->n < AT_ONCE ? AT_ONCE / (r->n ? r->n : 1) : 1;
    r->at_once = r->at_once < r->rows ? r->at_once : r->rows;
}

JIT_ACCEPTS(sort)
{
    rows r;
    (void)device;
    rows_of(&r, call);
    *workspace_bytes = 4 * sizeof(uint64_t) * (uint64_t)(r.at_once * r.n);
    return COLLET_OK;
}

/* sort, argsort and partition, whose result is the sorted axis. */
JIT_KERNEL(sort)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    const collet_sort_params *params = call->params;
    int indices = call->op == COLLET_OP_ARGSORT;
    int descending = call->op != COLLET_OP_PARTITION && params->descending;
    sort_order order = order_of(in->dtype, descending, indices);
    jit_sequence s = jit_sequence_of(device, queue, call);
    jit_launch l;
    rows r;
    rows_of(&r, call);
    for (int64_t row = 0; row < r.rows; row += r.at_once) {
        int64_t count = r.rows - row < r.at_once ? r.rows - row : r.at_once;
        uint64_t groups = jit_groups(s.traits, (uint64_t)(count * r.n));
        jit_launch_begin(&l, &source, "", "keys");
        jit_pass_operand(&l, in);
        jit_pass_block(&l, &r.walk, sizeof r.walk);
        jit_pass_block(&l, &order, sizeof order);
        jit_pass_i64s(&l, row, count, r.n);
        jit_pass_buffer(&l, call->workspace);
        jit_sequence_enqueue(&s, &l, groups);
        int64_t first = index_sort_pairs(&s, 0, count, r.n);
        jit_launch_begin(&l, &source, "", "sorted");
        jit_pass_operand(&l, out);
        jit_pass_block(&l, &r.walk, sizeof r.walk);
        jit_pass_block(&l, &order, sizeof order);
        jit_pass_i64s(&l, row, count, r.n);
        jit_pass_buffer(&l, call->workspace);
        jit_pass_i64(&l, first);
        jit_pass_i32(&l, indices);
        jit_sequence_enqueue(&s, &l, groups);
    }
    return s.status;
}

/* ---- searchsorted ---------------------------------------------------------------------------- */

JIT_KERNEL(searchsorted)
{
    const collet_operand *out = operand_of(call, 0), *a = operand_of(call, 1);
    const collet_operand *v = operand_of(call, 2);
    const collet_searchsorted_params *params = call->params;
    sort_order order = order_of(a->dtype, 0, 1);
    jit_axis axes[COLLET_MAX_DIMS];
    index_walk w;
    jit_launch l;
    for (int32_t i = 0; i < out->ndim; i++)
        axes[i] = (jit_axis){out->shape[i], {out->strides[i], v->strides[i]}};
    index_walk_of(&w, axes, out->ndim, 2, 1);
    jit_launch_begin(&l, &source, "", "search");
    jit_pass_operand(&l, out);
    jit_pass_operand(&l, a);
    jit_pass_i64s(&l, index_step(a), operand_extent(a, 0));
    jit_pass_operand(&l, v);
    jit_pass_block(&l, &w, sizeof w);
    jit_pass_block(&l, &order, sizeof order);
    jit_pass_i32(&l, (int32_t)params->right);
    return jit_enqueue(device, queue, &l, jit_groups(jit_traits_of(device), (uint64_t)w.count),
                       call->err);
}
