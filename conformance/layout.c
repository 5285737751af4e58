/* SPDX-License-Identifier: Apache-2.0 */
/* Operands in memory: laid out as the case requests, between guards, with a copy of the whole block
 * to detect stray writes.
 * Tests: tests/conformance/test_broken.c */
#include "kit.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64
#define GUARD 192 /* bytes before and after */

struct kit_block {
    unsigned char *memory; /* the allocation: guards and elements */
    unsigned char *copy;   /* expected contents after the call */
    size_t bytes;
    size_t start; /* byte where the elements begin */
};

/* How the elements of a view lie in a parent array that has gaps, another order of axes, ... */
typedef struct geometry {
    int32_t ndim;
    int32_t order[COLLET_MAX_DIMS];                         /* axes of the parent, slowest first */
    int64_t step[COLLET_MAX_DIMS],
        parent[COLLET_MAX_DIMS];    /* step of view axes, extent of parent axes */
    int64_t count[COLLET_MAX_DIMS]; /* elements of the view along each parent axis */
    bool negative[COLLET_MAX_DIMS];
    int64_t strides[COLLET_MAX_DIMS]; /* strides of view axes */
    int64_t first, total;             /* first element, number of elements of the parent */
    bool repeated;
} geometry;

/* ---- Blocks -------------------------------------------------------------------------------- */

static kit_block *block_create(size_t elements, size_t size, bool aligned)
{
    kit_block *b = kit_memory(sizeof *b);
    size_t content = elements * size;
    b->bytes = (2 * GUARD + content + size + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    b->memory = aligned_alloc(ALIGNMENT, b->bytes);
    if (!b->memory)
        _Exit(KIT_EXIT_MEMORY);
    b->copy = kit_memory(b->bytes);
    b->start = GUARD + (aligned ? 0 : size);
    for (size_t i = 0; i < b->bytes; i++)
        b->memory[i] = (unsigned char)(i * 167 + 13);
    return b;
}

static void block_free(kit_block *b)
{
    if (!b)
        return;
    free(b->memory);
    free(b->copy);
    free(b);
}

/* Copies between a view, whose first element is at `first`, and dense elements. */
static void transfer(const kit_tensor *t, const int64_t *strides, unsigned char *first,
                     unsigned char *dense, bool to_dense)
{
    size_t size = collet_dtype_size(t->dtype);
    int64_t index[COLLET_MAX_DIMS] = {0}, inner = t->ndim ? t->shape[t->ndim - 1] : 1;
    int64_t stride = t->ndim ? strides[t->ndim - 1] * (int64_t)size : 0;
    for (int64_t done = 0; done < t->count; done += inner) {
        unsigned char *element = first;
        for (int32_t i = 0; i + 1 < t->ndim; i++)
            element += index[i] * strides[i] * (int64_t)size;
        for (int64_t i = 0; i < inner; i++, dense += size)
            if (to_dense)
                memcpy(dense, element + i * stride, size);
            else
                memcpy(element + i * stride, dense, size);
        for (int32_t i = t->ndim - 2; i >= 0 && ++index[i] == t->shape[i]; i--)
            index[i] = 0;
    }
}

/* ---- Geometry ------------------------------------------------------------------------------ */

static geometry geometry_of(const kit_tensor *t, kit_layout layout, kit_rng *rng)
{
    geometry g = {.ndim = t->ndim, .total = 1, .repeated = layout == KIT_REPEATED && t->ndim > 0};
    for (int32_t i = 0; i < t->ndim; i++) {
        g.order[i] = layout == KIT_TRANSPOSED ? t->ndim - 1 - i : i;
        g.step[i] = layout == KIT_STEPPED ? 2 + i % 2 : 1;
        g.negative[i] = layout == KIT_REVERSED;
        bool last = i + 1 == t->ndim;
        if (layout == KIT_MIXED || (layout == KIT_ROWS && !last)) {
            g.step[i] = 1 + kit_below(rng, 3);
            g.negative[i] = kit_next(rng) & 1;
            int32_t other = (int32_t)kit_below(rng, i + 1), swap = g.order[i];
            g.order[i] = g.order[other];
            g.order[other] = swap;
        }
    }
    for (int32_t j = t->ndim - 1; j >= 0; j--) {
        int32_t axis = g.order[j];
        int64_t extent = g.repeated && axis == 0 && t->shape[0] > 0 ? 1 : t->shape[axis];
        int64_t stride = g.total * g.step[axis];
        /* The parent's rows are a few elements longer than the view's, so that rows begin unaligned. */
        bool longer = layout == KIT_ROWS && j + 1 == t->ndim && j > 0;
        g.count[j] = extent;
        g.parent[j] = extent * g.step[axis] + (longer ? kit_below(rng, 70) : 0);
        g.strides[axis] = g.negative[axis] ? -stride : stride;
        if (g.negative[axis] && extent > 0)
            g.first += (extent - 1) * stride;
        g.total *= g.parent[j];
    }
    if (g.repeated)
        g.strides[0] = 0;
    if (g.total == 0)
        g.first = 0;
    if (layout == KIT_WITHIN) {
        g.first = 1;
        g.total++;
    }
    return g;
}

/* Replaces *array by `view`, or by NULL if `status` is an error; frees the old array in both cases. */
static collet_status replace(collet_array **array, collet_array *view, collet_status status)
{
    collet_array_destroy(*array);
    *array = status == COLLET_OK ? view : NULL;
    return status;
}

/* A contiguous part of a one-dimensional array, reshaped to the shape of `t`. */
static collet_status section(collet_context *cx, collet_array **out, const collet_array *base,
                             const kit_tensor *t, int64_t start)
{
    collet_array *run = NULL;
    collet_status status = collet_array_slice(cx, base, &run, 0, start, t->count, 1);
    if (status == COLLET_OK)
        status = collet_array_reshape(cx, run, out, t->ndim, t->shape);
    collet_array_destroy(run);
    return status;
}

/* Wraps `data` without its first element. */
static collet_status wrap_within(collet_context *cx, collet_array **out, const kit_tensor *t,
                                 unsigned char *data)
{
    int64_t total = t->count + 1;
    collet_array *base = NULL;
    collet_status status =
        collet_array_wrap(cx, &base, t->dtype, 1, &total, NULL, data, 0, NULL, NULL);
    if (status == COLLET_OK)
        status = section(cx, out, base, t, 1);
    collet_array_destroy(base);
    return status;
}

/* Makes the view by slice, permute and broadcast of the parent. */
static collet_status by_views(collet_context *cx, collet_array **out, const kit_tensor *t,
                              const geometry *g, unsigned char *data)
{
    int32_t place[COLLET_MAX_DIMS];
    collet_array *view = NULL;
    collet_status status =
        collet_array_wrap(cx, out, t->dtype, g->ndim, g->parent, NULL, data, 0, NULL, NULL);
    for (int32_t j = 0; j < g->ndim && status == COLLET_OK; j++) {
        int32_t axis = g->order[j];
        int64_t count = g->count[j];
        int64_t start = g->negative[axis] && count > 0 ? (count - 1) * g->step[axis] : 0;
        int64_t step = g->negative[axis] ? -g->step[axis] : g->step[axis];
        place[axis] = j;
        if (step == 1 && count == g->parent[j])
            continue;
        status = collet_array_slice(cx, *out, &view, j, start, count, step);
        status = replace(out, view, status);
    }
    if (status == COLLET_OK && g->ndim > 0) {
        status = collet_array_permute(cx, *out, &view, place);
        status = replace(out, view, status);
    }
    if (status == COLLET_OK && g->repeated) {
        status = collet_array_broadcast(cx, *out, &view, t->ndim, t->shape);
        status = replace(out, view, status);
    }
    return status;
}

static collet_status wrap(collet_context *cx, collet_array **out, const kit_tensor *t,
                          kit_layout layout, const geometry *g, kit_block *b, kit_rng *rng)
{
    size_t size = collet_dtype_size(t->dtype);
    unsigned char *data = b->memory + b->start;
    if (layout == KIT_DENSE || layout == KIT_UNALIGNED)
        return collet_array_wrap(cx, out, t->dtype, t->ndim, t->shape, NULL, data, 0, NULL, NULL);
    if (layout == KIT_WITHIN)
        return wrap_within(cx, out, t, data);
    if (g->repeated || kit_next(rng) & 1)
        return by_views(cx, out, t, g, data);
    return collet_array_wrap(cx, out, t->dtype, t->ndim, t->shape, g->strides,
                             data + (size_t)g->first * size, 0, NULL, NULL);
}

/* ---- Operands ------------------------------------------------------------------------------ */

/* Copies the first element of axis 0 to all other elements of the axis. */
static void repeat_first(kit_tensor *t)
{
    if (t->ndim == 0 || t->count == 0)
        return;
    size_t bytes = (size_t)(t->count / t->shape[0]) * collet_dtype_size(t->dtype);
    for (int64_t i = 1; i < t->shape[0]; i++)
        memcpy(t->data + (size_t)i * bytes, t->data, bytes);
}

static collet_status create_one(collet_context *cx, const kit_case *c, kit_operands *o, uint32_t k,
                                kit_rng *rng)
{
    const kit_tensor *t = &c->operand[k];
    kit_layout layout = c->layout[k];
    size_t size = collet_dtype_size(t->dtype);
    if (layout == KIT_OWNED) {
        collet_status status = collet_array_create(cx, &o->array[k], t->dtype, t->ndim, t->shape);
        if (status != COLLET_OK)
            return status;
        memcpy(o->strides[k], collet_array_strides(o->array[k]), (size_t)t->ndim * sizeof(int64_t));
        return collet_array_write(cx, o->array[k], t->data, (size_t)t->count * size);
    }
    geometry g = geometry_of(t, layout, rng);
    kit_block *b = block_create((size_t)g.total, size, layout != KIT_UNALIGNED);
    o->block[k] = b;
    memcpy(o->strides[k], g.strides, sizeof g.strides);
    transfer(t, g.strides, b->memory + b->start + (size_t)g.first * size, t->data, false);
    return wrap(cx, &o->array[k], t, layout, &g, b, rng);
}

/* Lays out output 0 and input `k` dense in one block, shifted by one element. */
static collet_status create_shifted(collet_context *cx, const kit_case *c, kit_operands *o,
                                    uint32_t k)
{
    const kit_tensor *in = &c->operand[k], *out = &c->operand[0];
    size_t size = collet_dtype_size(in->dtype);
    int64_t in_at = c->mode == KIT_AHEAD, out_at = c->mode == KIT_BEHIND;
    int64_t total = (in->count > out->count ? in->count : out->count) + 1;
    kit_block *b = block_create((size_t)total, size, true);
    unsigned char *data = b->memory + b->start;
    collet_array *base = NULL;
    o->block[k] = b;
    memset(data, 0xff, (size_t)total * size);
    memcpy(data + (size_t)in_at * size, in->data, (size_t)in->count * size);
    collet_status status =
        collet_array_wrap(cx, &base, in->dtype, 1, &total, NULL, data, 0, NULL, NULL);
    if (status == COLLET_OK)
        status = section(cx, &o->array[k], base, in, in_at);
    if (status == COLLET_OK)
        status = section(cx, &o->array[0], base, out, out_at);
    collet_array_destroy(base);
    return status;
}

/* Makes output 0 another view of input `k`. */
static collet_status create_shared(collet_context *cx, const kit_case *c, kit_operands *o,
                                   uint32_t k)
{
    static const int32_t same[COLLET_MAX_DIMS] = {0, 1, 2, 3, 4, 5, 6, 7};
    int64_t extent = c->operand[0].ndim ? c->operand[0].shape[0] : 1;
    switch (c->mode) {
    case KIT_ALL_IN_PLACE:
        for (uint32_t i = c->row->info.n_out; i < c->row->operands; i++)
            o->array[i] = o->array[k];
        o->array[0] = o->array[k];
        return COLLET_OK;
    case KIT_SAME_VIEW:
        return collet_array_permute(cx, o->array[k], &o->array[0], same);
    case KIT_BACKWARDS:
        return collet_array_slice(cx, o->array[k], &o->array[0], 0, extent - 1, extent, -1);
    default:
        o->array[0] = o->array[k];
        return COLLET_OK;
    }
}

collet_status kit_operands_create(collet_context *cx, kit_case *c, kit_operands *o, kit_rng *rng)
{
    uint32_t n_out = c->row->info.n_out, target = n_out + c->target;
    bool shared = c->mode != KIT_PLAIN && c->mode != KIT_PARTS;
    bool shifted = c->mode == KIT_BEHIND || c->mode == KIT_AHEAD;
    collet_status status = COLLET_OK;
    memset(o, 0, sizeof *o);
    for (uint32_t k = n_out; k < c->row->operands; k++)
        if (c->layout[k] == KIT_REPEATED && c->operand[k].dtype != COLLET_DTYPE_NONE)
            repeat_first(&c->operand[k]);
    for (uint32_t k = n_out; k < c->row->operands && c->mode == KIT_ALL_IN_PLACE; k++)
        memcpy(c->operand[k].data, c->operand[target].data,
               (size_t)c->operand[k].count * collet_dtype_size(c->operand[k].dtype));
    for (uint32_t k = 0; k < c->row->operands && status == COLLET_OK; k++) {
        bool elsewhere = (shared && k == 0) || (shifted && k == target) ||
                         (c->mode == KIT_ALL_IN_PLACE && k != target);
        if (c->operand[k].dtype != COLLET_DTYPE_NONE && !elsewhere)
            status = create_one(cx, c, o, k, rng);
    }
    if (status == COLLET_OK && shared)
        status = shifted ? create_shifted(cx, c, o, target) : create_shared(cx, c, o, target);
    for (uint32_t k = 0; k < c->row->operands; k++) {
        if (o->array[k] && c->operand[k].ndim > 0)
            memcpy(o->strides[k], collet_array_strides(o->array[k]),
                   (size_t)c->operand[k].ndim * sizeof(int64_t));
        if (o->block[k])
            memcpy(o->block[k]->copy, o->block[k]->memory, o->block[k]->bytes);
    }
    return status;
}

void kit_operands_destroy(kit_operands *o)
{
    for (uint32_t k = 0; k < KIT_OPERANDS; k++) {
        bool again = false;
        for (uint32_t i = 0; i < k; i++)
            again = again || o->array[i] == o->array[k];
        if (!again)
            collet_array_destroy(o->array[k]);
    }
    for (uint32_t k = 0; k < KIT_OPERANDS; k++)
        block_free(o->block[k]);
}

/* ---- After the call ------------------------------------------------------------------------ */

/* The block with operand k; NULL: memory of libcore. */
static kit_block *block_of(const kit_case *c, const kit_operands *o, uint32_t k)
{
    bool shared = c->mode != KIT_PLAIN && c->mode != KIT_PARTS;
    return shared && k == 0 ? o->block[c->row->info.n_out + c->target] : o->block[k];
}

static collet_status gather_output(collet_context *cx, kit_case *c, kit_operands *o, uint32_t k,
                                   kit_verdict *v)
{
    kit_tensor *t = &c->operand[k];
    kit_block *b = block_of(c, o, k);
    void *address = NULL;
    if (!b)
        return collet_array_read(cx, o->array[k], t->data,
                                 (size_t)t->count * collet_dtype_size(t->dtype));
    collet_status status = collet_array_acquire(cx, o->array[k], &address, COLLET_READ);
    if (status != COLLET_OK)
        return status;
    unsigned char *first = address;
    if (t->count > 0 && (first < b->memory || first >= b->memory + b->bytes)) {
        kit_fail(v,
                 "output %u: collet_array_acquire returned an address outside the wrapped memory",
                 k);
    } else {
        transfer(t, o->strides[k], first, t->data, true);
        if (t->count > 0)
            transfer(t, o->strides[k], b->copy + (first - b->memory), t->data, false);
    }
    return collet_array_release(cx, o->array[k]);
}

static void check_block(const kit_case *c, const kit_block *b, uint32_t k, kit_verdict *v)
{
    uint32_t n_out = c->row->info.n_out;
    size_t at = 0;
    if (!memcmp(b->memory, b->copy, b->bytes))
        return;
    while (b->memory[at] == b->copy[at])
        at++;
    kit_fail(
        v,
        "memory of %s %u outside the elements of the outputs was changed: byte %lld counted from "
        "the start of its memory, %s",
        k < n_out ? "output" : "input", k < n_out ? k : k - n_out,
        (long long)at - (long long)b->start,
        at < b->start ? "before it"
        : k < n_out   ? "in a gap or after it"
                      : "in or after it");
}

/* An input in libcore's memory must keep its values. */
static collet_status check_owned(collet_context *cx, const kit_case *c, const kit_operands *o,
                                 uint32_t k, kit_verdict *v)
{
    const kit_tensor *t = &c->operand[k];
    size_t bytes = (size_t)t->count * collet_dtype_size(t->dtype);
    unsigned char *now = kit_memory(bytes);
    collet_status status = collet_array_read(cx, o->array[k], now, bytes);
    if (status == COLLET_OK && memcmp(now, t->data, bytes))
        kit_fail(v, "input %u was changed; a kernel must only read it", k - c->row->info.n_out);
    free(now);
    return status;
}

collet_status kit_operands_gather(collet_context *cx, kit_case *c, kit_operands *o, kit_verdict *v)
{
    uint32_t n_out = c->row->info.n_out;
    collet_status status = COLLET_OK;
    for (uint32_t k = 0; k < n_out && status == COLLET_OK; k++)
        if (o->array[k])
            status = gather_output(cx, c, o, k, v);
    for (uint32_t k = 0; k < c->row->operands && status == COLLET_OK; k++) {
        if (o->block[k])
            check_block(c, o->block[k], k, v);
        else if (k >= n_out && o->array[k] && c->layout[k] == KIT_OWNED)
            status = check_owned(cx, c, o, k, v);
    }
    return status;
}
