/* SPDX-License-Identifier: Apache-2.0 */
/* Expands a family's shapes to cases: layouts, memory sharing, parts.
 * Tests: tests/conformance/test_kit.c */
#include "kit.h"

#include <string.h>

kit_case kit_case_of(const kit_plan *plan)
{
    kit_case c = {.row = plan->row, .data = ""};
    for (uint32_t k = 0; k < plan->row->operands; k++) {
        c.operand[k].dtype = plan->row->dtypes[k];
        c.layout[k] = KIT_DENSE;
    }
    return c;
}

void kit_shape(kit_case *c, uint32_t operand, int32_t ndim, const int64_t *shape)
{
    kit_tensor_shape(&c->operand[operand], ndim, shape);
}

static int64_t extent_of(const char *letters, const int64_t *extents, int letter)
{
    const char *at = strchr(letters, letter);
    return at ? extents[at - letters] : 0;
}

static int64_t axis_extent(const char *letters, const int64_t *extents, const collet_ops_axis *axis)
{
    if (!axis->letter)
        return axis->extent;
    int64_t extent = extent_of(letters, extents, axis->letter);
    int64_t other = axis->other ? extent_of(letters, extents, axis->other) : extent;
    return other < extent ? other : extent;
}

void kit_bind(kit_case *c, const char *letters, const int64_t *extents, int32_t dot_axes,
              const int64_t *dots, int alternative)
{
    for (uint32_t k = 0; k < c->row->operands; k++) {
        const collet_ops_pattern *p = kit_pattern(c, k, alternative);
        int64_t shape[2 * COLLET_MAX_DIMS];
        int32_t ndim = 0;
        for (int32_t i = 0; p->dots && i < dot_axes; i++)
            shape[ndim++] = dots[i];
        for (int32_t i = 0; i < p->ndim; i++)
            shape[ndim++] = axis_extent(letters, extents, &p->axes[i]);
        kit_shape(c, k, ndim, shape);
    }
}

void kit_absent(kit_case *c, uint32_t operand)
{
    c->operand[operand] = (kit_tensor){.dtype = COLLET_DTYPE_NONE};
}

void kit_emit(kit_plan *plan, const kit_case *c)
{
    kit_case numbered = *c;
    numbered.number = plan->next++;
    plan->run(plan->user, &numbered);
}

/* ---- Layouts ------------------------------------------------------------------------------- */

/* An input may have stride 0 on the first axis if that axis is free, but not if the axis counts the rows of a
 * matrix. */
static bool may_repeat(const kit_case *c, uint32_t k)
{
    const collet_ops_pattern *p = kit_pattern(c, k, 0);
    if (k < c->row->info.n_out || c->operand[k].ndim == 0)
        return false;
    return p->any || p->dots || p->ndim == 0 || p->axes[0].letter;
}

/* Packed rows have no gaps between their bytes. */
static bool is_packed(const kit_case *c, uint32_t k)
{
    return !strcmp(c->row->info.family, "ternary") && c->operand[k].dtype == COLLET_U8;
}

static kit_layout allowed(const kit_case *c, uint32_t k, kit_layout requested)
{
    if (requested == KIT_REPEATED)
        return may_repeat(c, k) && !(is_packed(c, k) && c->operand[k].ndim < 2) ? KIT_REPEATED
                                                                                : KIT_DENSE;
    return requested > KIT_UNALIGNED && is_packed(c, k) ? KIT_ROWS : requested;
}

static void lay(kit_case *c, kit_layout outputs, kit_layout inputs)
{
    for (uint32_t k = 0; k < c->row->operands; k++)
        c->layout[k] = allowed(c, k, k < c->row->info.n_out ? outputs : inputs);
}

void kit_emit_layouts(kit_plan *plan, const kit_case *c)
{
    static const kit_layout pairs[][2] = {
        {KIT_OWNED, KIT_OWNED},       {KIT_UNALIGNED, KIT_UNALIGNED},   {KIT_TRANSPOSED, KIT_DENSE},
        {KIT_DENSE, KIT_TRANSPOSED},  {KIT_TRANSPOSED, KIT_TRANSPOSED}, {KIT_STEPPED, KIT_DENSE},
        {KIT_UNALIGNED, KIT_STEPPED}, {KIT_REVERSED, KIT_DENSE},        {KIT_DENSE, KIT_REVERSED},
        {KIT_REVERSED, KIT_REVERSED}, {KIT_DENSE, KIT_REPEATED},        {KIT_STEPPED, KIT_REPEATED},
        {KIT_MIXED, KIT_MIXED},       {KIT_MIXED, KIT_MIXED},           {KIT_WITHIN, KIT_WITHIN},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        kit_case next = *c;
        lay(&next, pairs[i][0], pairs[i][1]);
        kit_emit(plan, &next);
    }
    /* One operand has an unusual layout, and all others are dense. This finds fast paths that do not check all
     * operands. */
    for (uint32_t k = 0; k < c->row->operands && c->row->operands > 2; k++) {
        kit_case next = *c;
        lay(&next, KIT_DENSE, KIT_DENSE);
        next.layout[k] = allowed(c, k, KIT_MIXED);
        kit_emit(plan, &next);
    }
}

/* ---- Sharing of memory --------------------------------------------------------------------- */

static bool same_shape(const kit_tensor *a, const kit_tensor *b)
{
    return a->ndim == b->ndim && !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape);
}

/* 1 if every input has the shape and dtype of output 0. */
static bool all_alike(const kit_case *c)
{
    for (uint32_t k = c->row->info.n_out; k < c->row->operands; k++)
        if (c->operand[k].dtype != c->operand[0].dtype ||
            !same_shape(&c->operand[0], &c->operand[k]))
            return false;
    return true;
}

static void emit_shared(kit_plan *plan, const kit_case *c, uint32_t target, kit_mode mode,
                        kit_layout layout)
{
    kit_case next = *c;
    next.mode = mode;
    next.target = target;
    lay(&next, KIT_DENSE, layout);
    kit_emit(plan, &next);
}

void kit_emit_sharing(kit_plan *plan, const kit_case *c)
{
    uint32_t n_out = c->row->info.n_out;
    for (uint32_t target = 0; target < c->row->info.n_in; target++) {
        const kit_tensor *in = &c->operand[n_out + target], *out = &c->operand[0];
        if (in->dtype != out->dtype || in->count == 0 || out->count == 0)
            continue;
        emit_shared(plan, c, target, KIT_BEHIND, KIT_DENSE);
        emit_shared(plan, c, target, KIT_AHEAD, KIT_DENSE);
        if (!same_shape(in, out))
            continue;
        emit_shared(plan, c, target, KIT_IN_PLACE, KIT_DENSE);
        emit_shared(plan, c, target, KIT_IN_PLACE, KIT_MIXED);
        emit_shared(plan, c, target, KIT_SAME_VIEW, KIT_STEPPED);
        if (out->ndim > 0)
            emit_shared(plan, c, target, KIT_BACKWARDS, KIT_DENSE);
        if (target == 0 && n_out == 1 && c->row->info.n_in > 1 && all_alike(c))
            emit_shared(plan, c, target, KIT_ALL_IN_PLACE, KIT_UNALIGNED);
    }
}

void kit_emit_parts(kit_plan *plan, const kit_case *c)
{
    kit_case next = *c;
    next.mode = KIT_PARTS;
    int32_t axis = kit_split_axis(&next, 0);
    if (axis < 0 || next.operand[0].shape[axis] < 2)
        return;
    lay(&next, KIT_DENSE, KIT_DENSE);
    kit_emit(plan, &next);
    lay(&next, KIT_MIXED, KIT_MIXED);
    kit_emit(plan, &next);
}
