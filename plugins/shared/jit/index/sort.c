/* SPDX-License-Identifier: Apache-2.0 */
/* index: sort, argsort, partition and searchsorted.
 * Tests: conformance/index/sort.c, conformance/index/pick.c */
#include "index.h"

#include "shared/host/index/keys.h"
#include "shared/jit/runtime/rows.h"
#include "shared/jit/texts.h"

#include <string.h>

static const jit_source source =
    JIT_SOURCE("sort", jit_text_index_index_params, jit_text_index_index, jit_text_index_keys,
               jit_text_index_sort);

/* Bytes of the words in which elements of a type are compared. */
static uint64_t word_of(collet_dtype dtype)
{
    return cpu_dtype_size(dtype) == sizeof(uint64_t) ? sizeof(uint64_t) : sizeof(uint32_t);
}

static const char *options_of(const jit_traits *t, collet_dtype dtype)
{
    static const char *const options[2][2] = {{"-DWORD=u32 -DSERIAL=0", "-DWORD=u64 -DSERIAL=0"},
                                              {"-DWORD=u32 -DSERIAL=1", "-DWORD=u64 -DSERIAL=1"}};
    return options[t->serial][word_of(dtype) == sizeof(uint64_t)];
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

/* Elements that are sorted at a time, unless one row has more, or groups sort whole rows. */
#define AT_ONCE (1 << 22)

typedef struct rows {
    index_walk walk; /* over the rows; its operands are out and in */
    int64_t n, rows, at_once, out_step, in_step;
    int64_t each, padded; /* rows that a group sorts in local memory, or 0; places of such a row */
    int64_t keys[2], indices[2]; /* bytes of the workspace */
    int32_t passes;
    index_radix radix;
} rows;

/* Places up to two arrays of `count` elements in the workspace, from `end` on; sets first[], returns the new end. */
static int64_t put(int64_t first[2], int64_t end, int64_t count, uint64_t size, int32_t passes)
{
    int64_t bytes = (int64_t)jit_ceiling((uint64_t)count * size, 8) * 8;
    first[0] = end;
    first[1] = passes > 2 ? end + bytes : end;
    return passes > 1 ? first[1] + bytes : end;
}

/* Returns the bytes of the workspace. */
static uint64_t rows_of(rows *r, const jit_traits *t, const collet_kernel_call *call)
{
    const collet_operand *out = operand_of(call, 0), *in = operand_of(call, 1);
    const collet_sort_params *sort = call->params;
    const collet_partition_params *partition = call->params;
    int32_t axis = call->op == COLLET_OP_PARTITION ? partition->axis : sort->axis, count = 0;
    int64_t room = (int64_t)t->group * SORT_EACH, end = 0;
    jit_axis axes[COLLET_MAX_DIMS];
    memset(r, 0, sizeof *r);
    axis = index_axis(in, axis);
    for (int32_t i = 0; i < in->ndim; i++)
        if (i != axis)
            axes[count++] = (jit_axis){in->shape[i], {out->strides[i], in->strides[i]}};
    index_walk_of(&r->walk, axes, count, 2, 0);
    r->n = in->shape[axis];
    r->out_step = out->strides[axis];
    r->in_step = in->strides[axis];
    r->rows = r->n ? r->walk.count : 0;
    r->padded = (int64_t)jit_ceiling((uint64_t)r->n, SORT_EACH) * SORT_EACH;
    r->each = r->n ? room / r->padded : 1;
    if (r->each || !r->rows)
        return 0;
    r->at_once = r->n < AT_ONCE ? AT_ONCE / r->n : 1;
    r->at_once = r->at_once < r->rows ? r->at_once : r->rows;
    /* If the call is in place, each pass must read or write the workspace, so at least two passes are needed. */
    r->passes = (int32_t)cpu_dtype_size(in->dtype);
    r->passes += r->passes == 1 && index_in_place(out, in);
    uint64_t index = r->n > (int64_t)UINT32_MAX ? sizeof(uint64_t) : sizeof(uint32_t);
    end = put(r->keys, end, r->at_once * r->n, word_of(in->dtype), r->passes);
    if (call->op == COLLET_OP_ARGSORT)
        end = put(r->indices, end, r->at_once * r->n, index, r->passes);
    index_radix_of(&r->radix, t, r->at_once, r->n, word_of(in->dtype), index,
                   call->op == COLLET_OP_ARGSORT, end);
    return (uint64_t)(end + r->radix.bytes);
}

JIT_ACCEPTS(sort)
{
    rows r;
    *workspace_bytes = rows_of(&r, jit_traits_of(device), call);
    return COLLET_OK;
}

static void sort_in_groups(jit_sequence *s, const rows *r, const sort_order *order)
{
    const collet_operand *out = operand_of(s->call, 0), *in = operand_of(s->call, 1);
    jit_launch l;
    jit_launch_begin(&l, &source, options_of(s->traits, in->dtype), "short_rows");
    jit_pass_operand(&l, out);
    jit_pass_i64(&l, r->out_step);
    jit_pass_operand(&l, in);
    jit_pass_i64(&l, r->in_step);
    jit_pass_block(&l, &r->walk, sizeof r->walk);
    jit_pass_block(&l, order, sizeof *order);
    jit_pass_i32(&l, (int32_t)r->n);
    jit_pass_i32(&l, (int32_t)r->padded);
    jit_pass_i32(&l, (int32_t)r->each);
    jit_pass_i32(&l, s->call->op == COLLET_OP_ARGSORT);
    jit_sequence_enqueue(s, &l, jit_ceiling((uint64_t)r->rows, (uint64_t)r->each));
}

static void sort_by_digits(jit_sequence *s, rows *r, const sort_order *order)
{
    const collet_operand *out = operand_of(s->call, 0), *in = operand_of(s->call, 1);
    int indices = s->call->op == COLLET_OP_ARGSORT;
    int32_t bits = order->size < r->passes ? 4 : 8;
    radix_pass *p = &r->radix.pass;
    p->walk = r->walk;
    p->order = *order;
    p->out_step = r->out_step;
    p->in_step = r->in_step;
    p->mask = (1 << bits) - 1;
    for (p->row = 0; p->row < r->rows; p->row += r->at_once) {
        int64_t left = r->rows - p->row;
        r->radix.rows = left < r->at_once ? left : r->at_once;
        for (int32_t i = 0; i < r->passes; i++) {
            int first = i == 0, last = i == r->passes - 1;
            p->shift = i * bits;
            p->keys_from = first ? RADIX_OPERAND : r->keys[(i - 1) % 2];
            p->keys_to = !last ? r->keys[i % 2] : indices ? RADIX_NONE : RADIX_OPERAND;
            p->indices_from = first || !indices ? RADIX_NONE : r->indices[(i - 1) % 2];
            p->indices_to = !indices ? RADIX_NONE : last ? RADIX_OPERAND : r->indices[i % 2];
            index_radix_pass(s, &r->radix, out, in);
        }
    }
}

/* sort, argsort and partition. partition sorts the whole axis; that is a valid result. */
JIT_KERNEL(sort)
{
    const collet_sort_params *params = call->params;
    int descending = call->op != COLLET_OP_PARTITION && params->descending;
    sort_order order =
        order_of(operand_of(call, 1)->dtype, descending, call->op == COLLET_OP_ARGSORT);
    jit_sequence s = jit_sequence_of(device, queue, call);
    rows r;
    rows_of(&r, s.traits, call);
    if (r.each)
        sort_in_groups(&s, &r, &order);
    else
        sort_by_digits(&s, &r, &order);
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
    jit_launch_begin(&l, &source, options_of(jit_traits_of(device), a->dtype), "search");
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
