/* SPDX-License-Identifier: Apache-2.0 */
/* Checks shapes of a call against the patterns of its op, and prepares the axes for the kernel.
 * Tests: tests/core/test_util.c */
#include "shape.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

/* The extents to which letters and "..." are bound so far. */
typedef struct binding {
    uint64_t bound;      /* the letters that are bound, as bits of letter_bit */
    int64_t letter[128]; /* extents of bound letters */
    uint8_t owner[128];  /* the operand that bound each letter */
    int32_t dots;        /* number of axes that "..." matches */
    int32_t dots_bound;  /* 1: an operand with "..." has been seen */
    int64_t extent[COLLET_MAX_DIMS];
    uint8_t dots_owner[COLLET_MAX_DIMS];
} binding;

/* A to Z and a to z have different low six bits. */
static uint64_t letter_bit(int letter)
{
    return 1ull << (letter & 63);
}

/* -1: the letter is not bound. */
static int64_t letter_extent(const binding *b, int letter)
{
    return b->bound & letter_bit(letter) ? b->letter[letter] : -1;
}

/* Whether all operands of an op have the shape [...] and are broadcast together. */
static int only_broadcasts(const op *o)
{
    for (const char *at = strchr(o->shapes, '['); at; at = strchr(at + 1, '['))
        if (strncmp(at, "[...]", 5))
            return 0;
    return 1;
}

static collet_status mismatch(const op *o, const op_shapes *v, uint32_t a, uint32_t b,
                              collet_error *err)
{
    char name_a[OP_OPERAND_TEXT], name_b[OP_OPERAND_TEXT];
    text_buffer t;
    text_clear(&t);
    text_add(&t, "%s: %s is ", o->name, op_operand_name(o, a, name_a));
    text_add_shape(&t, v->operand[a].ndim, v->operand[a].shape);
    if (a != b) {
        text_add(&t, ", %s is ", op_operand_name(o, b, name_b));
        text_add_shape(&t, v->operand[b].ndim, v->operand[b].shape);
    }
    if (only_broadcasts(o))
        text_add(&t, "; from the last axis on, extents must be equal, or 1 in an input");
    else
        text_add(&t, "; the shapes must fit %s", o->shapes);
    return collet_fail(err, COLLET_SHAPE, "%s", t.bytes);
}

static int pattern_fits(const collet_ops_pattern *p, int32_t ndim)
{
    return p->dots ? ndim >= p->ndim : ndim == p->ndim;
}

static const collet_ops_pattern *choose_pattern(const collet_ops_operand *o, int32_t ndim)
{
    for (int32_t i = 0; i < o->alternatives; i++)
        if (pattern_fits(&o->pattern[i], ndim))
            return &o->pattern[i];
    return NULL;
}

/* Broadcasts the leading axes of an input into the binding. On a mismatch returns 0 and sets
 * *other. */
static int bind_dots(binding *b, const struct op_view *v, int32_t lead, uint32_t operand,
                     uint32_t *other)
{
    if (lead > b->dots) {
        int32_t shift = lead - b->dots;
        memmove(b->extent + shift, b->extent, (size_t)b->dots * sizeof *b->extent);
        memmove(b->dots_owner + shift, b->dots_owner, (size_t)b->dots);
        for (int32_t i = 0; i < shift; i++) {
            b->extent[i] = 1;
            b->dots_owner[i] = (uint8_t)operand;
        }
        b->dots = lead;
    }
    for (int32_t i = 0; i < lead; i++) {
        int64_t have = v->shape[i];
        int32_t at = b->dots - lead + i;
        if (b->extent[at] == 1 && have != 1) {
            b->extent[at] = have;
            b->dots_owner[at] = (uint8_t)operand;
        } else if (have != 1 && have != b->extent[at]) {
            *other = b->dots_owner[at];
            return 0;
        }
    }
    return 1;
}

static int bind_axes(binding *b, const collet_ops_pattern *p, const struct op_view *v,
                     uint32_t operand, uint32_t *other)
{
    int32_t lead = v->ndim - p->ndim;
    for (int32_t i = 0; i < p->ndim; i++) {
        int64_t have = v->shape[lead + i];
        const collet_ops_axis *axis = &p->axes[i];
        int letter = axis->letter;
        *other = operand;
        if (!letter && have != axis->extent)
            return 0;
        if (letter && !axis->other) {
            if (!(b->bound & letter_bit(letter))) {
                b->bound |= letter_bit(letter);
                b->letter[letter] = have;
                b->owner[letter] = (uint8_t)operand;
            } else if (b->letter[letter] != have) {
                *other = b->owner[letter];
                return 0;
            }
        }
    }
    return 1;
}

static int smaller_letter(const binding *b, const collet_ops_axis *axis)
{
    return letter_extent(b, axis->letter) <= letter_extent(b, axis->other) ? axis->letter
                                                                           : axis->other;
}

/* Checks axes of two letters, when every letter is bound; on a mismatch *other is the operand that
 * bound the smaller extent. */
static int smaller_axes_fit(const binding *b, const collet_ops_pattern *p, const struct op_view *v,
                            uint32_t *other)
{
    int32_t lead = v->ndim - p->ndim;
    for (int32_t i = 0; i < p->ndim; i++) {
        if (!p->axes[i].other)
            continue;
        int smaller = smaller_letter(b, &p->axes[i]);
        if (v->shape[lead + i] != letter_extent(b, smaller)) {
            *other = b->owner[smaller];
            return 0;
        }
    }
    return 1;
}

/* Compares the leading axes of the outputs with the broadcast axes of the inputs. */
static int output_dots_fit(binding *b, const struct op_view *v, int32_t lead, uint32_t operand)
{
    if (operand > 0)
        return lead == b->dots && !memcmp(b->extent, v->shape, (size_t)lead * sizeof *b->extent);
    if (lead < b->dots)
        return 0;
    for (int32_t i = 0; i < b->dots; i++)
        if (b->extent[i] != 1 && b->extent[i] != v->shape[lead - b->dots + i])
            return 0;
    b->dots = lead;
    memcpy(b->extent, v->shape, (size_t)lead * sizeof *b->extent);
    memset(b->dots_owner, 0, sizeof b->dots_owner);
    return 1;
}

/* Prepends the broadcast axes to the view. */
static void apply_dots(const binding *b, struct op_view *v, int32_t named,
                       int64_t (*scratch)[COLLET_MAX_DIMS])
{
    int32_t lead = v->ndim - named, missing = b->dots - lead;
    int64_t *shape = scratch[0], *strides = scratch[1];
    for (int32_t i = 0; i < b->dots; i++) {
        int repeated = i < missing || v->shape[i - missing] != b->extent[i];
        shape[i] = b->extent[i];
        strides[i] = repeated ? 0 : v->strides[i - missing];
    }
    for (int32_t i = 0; i < named; i++) {
        shape[b->dots + i] = v->shape[lead + i];
        strides[b->dots + i] = v->strides[lead + i];
    }
    v->ndim = b->dots + named;
    v->shape = shape;
    v->strides = strides;
}

/* Infers the shape of an output that is not given: writes the extents that are known so far, and -1 for others. ndim
 * stays -1 while the axes of "..." are unknown. 0: too many axes. */
static int infer_view(const binding *b, const collet_ops_pattern *p, struct op_view *v,
                      int64_t *shape)
{
    int32_t lead = p->dots ? b->dots : 0;
    if (p->dots && !b->dots_bound)
        return 1;
    if (lead + p->ndim > COLLET_MAX_DIMS)
        return 0;
    memcpy(shape, b->extent, (size_t)lead * sizeof *shape);
    for (int32_t i = 0; i < p->ndim; i++) {
        const collet_ops_axis *axis = &p->axes[i];
        shape[lead + i] = axis->other    ? letter_extent(b, smaller_letter(b, axis))
                          : axis->letter ? letter_extent(b, axis->letter)
                                         : axis->extent;
    }
    v->ndim = lead + p->ndim;
    return 1;
}

/* Binds the letters and "..." of operand i; on a mismatch *other is the operand that conflicts with operand i, or i
 * itself. */
static const collet_ops_pattern *bind_operand(const op *o, binding *b, const struct op_view *v,
                                              uint32_t i, uint32_t *other)
{
    const collet_ops_pattern *p = choose_pattern(&o->operand[i], v->ndim);
    *other = i;
    if (!p || !bind_axes(b, p, v, i, other))
        return NULL;
    if (!p->dots)
        return p;
    int32_t lead = v->ndim - p->ndim;
    b->dots_bound = 1;
    if (i >= o->n_out)
        return bind_dots(b, v, lead, i, other) ? p : NULL;
    if (output_dots_fit(b, v, lead, i))
        return p;
    *other = b->dots ? b->dots_owner[0] : o->n_out;
    if (*other >= o->n_out + o->n_in)
        *other = i;
    return NULL;
}

static collet_status check_patterns(const op *o, op_shapes *views, op_scratch *scratch,
                                    collet_error *err)
{
    const collet_ops_pattern *pattern[COLLET_MAX_OPERANDS] = {0};
    uint32_t count = o->n_out + o->n_in, other = 0;
    binding b;
    b.bound = 0;
    b.dots = b.dots_bound = 0;
    /* Inputs first, because they determine "...". */
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = k < o->n_in ? o->n_out + k : k - o->n_in;
        struct op_view *v = &views->operand[i];
        if (!v->shape || o->operand[i].pattern[0].any)
            continue;
        if (views->open && op_open(views, i)) {
            if (!infer_view(&b, &o->operand[i].pattern[0], v, views->open[i]))
                return op_shape_error(o, views, "the output has too many axes", err);
            continue;
        }
        pattern[i] = bind_operand(o, &b, v, i, &other);
        if (!pattern[i])
            return mismatch(o, views, i, other, err);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct op_view *v = &views->operand[i];
        if (!pattern[i])
            continue;
        if (!smaller_axes_fit(&b, pattern[i], v, &other))
            return mismatch(o, views, i, other, err);
        if (!pattern[i]->dots)
            continue;
        if (b.dots + pattern[i]->ndim > COLLET_MAX_DIMS)
            return mismatch(o, views, i, i, err);
        if (i >= o->n_out)
            apply_dots(&b, v, pattern[i]->ndim, scratch[i]);
    }
    return COLLET_OK;
}

/* The most common call: elementwise, equal shapes, nothing to bind or to broadcast. */
static int all_same(const op_shapes *views, uint32_t count)
{
    const struct op_view *first = &views->operand[0];
    if (!first->shape)
        return 0;
    for (uint32_t i = 1; i < count; i++) {
        const struct op_view *v = &views->operand[i];
        if (!v->shape || v->ndim != first->ndim)
            return 0;
        for (int32_t k = 0; k < first->ndim; k++)
            if (v->shape[k] != first->shape[k])
                return 0;
    }
    return 1;
}

collet_status op_check_shapes(const op *o, op_shapes *views, const void *params,
                              op_scratch *scratch, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (o->elementwise && !views->open && all_same(views, o->n_out + o->n_in))
        return COLLET_OK;
    if (!o->rule_only)
        status = check_patterns(o, views, scratch, err);
    return status == COLLET_OK && o->rule ? o->rule(o, views, params, err) : status;
}

/* ---- For rules --------------------------------------------------------------------------- */

int64_t *op_open(op_shapes *views, uint32_t k)
{
    return views->open && views->operand[k].shape == views->open[k] ? views->open[k] : NULL;
}

collet_status op_shape_error(const op *o, const op_shapes *v, const char *why, collet_error *err)
{
    text_buffer t;
    char name[OP_OPERAND_TEXT];
    text_clear(&t);
    text_add(&t, "%s: ", o->name);
    if (v->operand[0].shape && v->operand[0].ndim >= 0) {
        text_add(&t, "%s is ", op_operand_name(o, 0, name));
        text_add_shape(&t, v->operand[0].ndim, v->operand[0].shape);
        text_add(&t, ", ");
    }
    text_add(&t, "%s is ", op_operand_name(o, o->n_out, name));
    text_add_shape(&t, v->operand[o->n_out].ndim, v->operand[o->n_out].shape);
    text_add(&t, "; %s", why);
    return collet_fail(err, COLLET_SHAPE, "%s", t.bytes);
}

collet_status op_expect(const op *o, op_shapes *views, uint32_t k, int32_t ndim,
                        const int64_t *shape, const char *why, collet_error *err)
{
    struct op_view *v = &views->operand[k];
    int64_t *open = op_open(views, k);
    if (open) {
        memcpy(open, shape, (size_t)ndim * sizeof *shape);
        v->ndim = ndim;
    } else if (v->ndim != ndim || memcmp(v->shape, shape, (size_t)ndim * sizeof *shape) != 0) {
        return op_shape_error(o, views, why, err);
    }
    return COLLET_OK;
}

/* ---- Merging ----------------------------------------------------------------------------- */

/* 1 if, in every view, one step along axis k equals all steps along axis k+1. */
static int mergeable(const op_shapes *v, uint32_t count, int32_t k)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct op_view *w = &v->operand[i];
        if (w->shape && w->strides[k] != w->strides[k + 1] * w->shape[k + 1])
            return 0;
    }
    return 1;
}

/* Sorts the axes of all operands, which are in `scratch`, by the strides of operand `first`, an output: the
 * largest first. */
static void sort_axes(const op_shapes *v, uint32_t count, uint32_t first, int32_t ndim,
                      op_scratch *scratch)
{
    const int64_t *strides = scratch[first][1];
    for (int32_t i = 1; i < ndim; i++)
        for (int32_t k = i; k > 0 && llabs(strides[k]) > llabs(strides[k - 1]); k--)
            for (uint32_t o = first; o < count; o++)
                for (int part = 0; v->operand[o].shape && part < 2; part++) {
                    int64_t *x = scratch[o][part], moved = x[k];
                    x[k] = x[k - 1];
                    x[k - 1] = moved;
                }
}

void op_merge_axes(op_shapes *views, uint32_t count, int any_order, op_scratch *scratch)
{
    uint32_t first = 0; /* the first operand that is present; all operands have the same axes */
    while (first < count && !views->operand[first].shape)
        first++;
    int32_t ndim = first < count ? views->operand[first].ndim : 1;
    if (ndim == 1)
        return;
    for (uint32_t i = first; i < count; i++) {
        struct op_view *v = &views->operand[i];
        int64_t(*mine)[COLLET_MAX_DIMS] = scratch[i];
        if (!v->shape)
            continue;
        if (v->shape != mine[0]) {
            memcpy(mine[0], v->shape, (size_t)ndim * sizeof *v->shape);
            memcpy(mine[1], v->strides, (size_t)ndim * sizeof *v->strides);
            v->shape = mine[0];
            v->strides = mine[1];
        }
        if (ndim == 0)
            mine[0][0] = mine[1][0] = 1;
    }
    /* The stride of an axis of one element has no meaning; drop such axes before merging. */
    int32_t kept = 0;
    for (int32_t k = 0; k < ndim; k++) {
        if (views->operand[first].shape[k] == 1 && (kept || k + 1 < ndim))
            continue;
        for (uint32_t i = 0; i < count; i++) {
            if (!views->operand[i].shape)
                continue;
            scratch[i][0][kept] = scratch[i][0][k];
            scratch[i][1][kept] = scratch[i][1][k];
        }
        kept++;
    }
    ndim = kept ? kept : 1;
    if (any_order)
        sort_axes(views, count, first, ndim, scratch);
    for (int32_t k = ndim - 2; k >= 0; k--) {
        if (!mergeable(views, count, k))
            continue;
        for (uint32_t i = 0; i < count; i++) {
            if (!views->operand[i].shape)
                continue;
            scratch[i][0][k] *= scratch[i][0][k + 1];
            scratch[i][1][k] = scratch[i][1][k + 1];
            size_t tail = (size_t)(ndim - k - 2) * sizeof(int64_t);
            memmove(&scratch[i][0][k + 1], &scratch[i][0][k + 2], tail);
            memmove(&scratch[i][1][k + 1], &scratch[i][1][k + 2], tail);
        }
        ndim--;
    }
    for (uint32_t i = 0; i < count; i++)
        views->operand[i].ndim = ndim;
}
