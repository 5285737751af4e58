/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of md: the axis of bodies, and which outputs observables can compute.
 * Tests: tests/core/test_infer.c, tests/core/test_operands.c */
#include <inttypes.h>
#include <string.h>

#include "rules.h"
#include "shape.h"

/* The operand `offsets`; NULL if the op has none or it is absent. */
static const struct op_view *offsets_of(const op *o, const op_shapes *views)
{
    uint32_t last = o->n_out + o->n_in - 1;
    const struct op_view *v = &views->operand[last];
    return !strcmp(o->operand[last].name, "offsets") && v->shape ? v : NULL;
}

/* Checks that offsets ascend and are at most N. Offsets whose values are not known here are not
 * checked. */
static collet_status check_offsets(const op *o, const struct op_view *v, int64_t atoms,
                                   collet_error *err)
{
    int64_t before = 0;
    for (int64_t b = 0; v->host && b < v->shape[0]; b++) {
        int64_t next = v->host[b * v->strides[0]];
        if (next < before)
            return collet_fail(err, COLLET_INVALID,
                               "%s: offsets[%" PRId64 "] is %" PRId64
                               "; offsets must begin at 0 or more and not decrease",
                               o->name, b, next);
        before = next;
    }
    if (before > atoms)
        return collet_fail(err, COLLET_INVALID,
                           "%s: the last of the offsets is %" PRId64 "; there are %" PRId64
                           " atoms",
                           o->name, before, atoms);
    return COLLET_OK;
}

static int has_letter(const collet_ops_pattern *p, int letter)
{
    for (int32_t i = 0; i < p->ndim; i++)
        if (p->axes[i].letter == letter)
            return 1;
    return 0;
}

/* Operand k has two patterns, without and with the axis B: the second applies if the call has bodies. */
static collet_status expect_bodies(const op *o, op_shapes *views, uint32_t k, int64_t bodies,
                                   collet_error *err)
{
    const collet_ops_pattern *p = &o->operand[k].pattern[bodies >= 0];
    int64_t shape[COLLET_MAX_DIMS];
    for (int32_t i = 0; i < p->ndim; i++)
        shape[i] = p->axes[i].letter == 'F'   ? views->operand[o->n_out].shape[0]
                   : p->axes[i].letter == 'B' ? bodies
                                              : p->axes[i].extent;
    return op_expect(o, views, k, p->ndim, shape,
                     bodies >= 0
                         ? "outputs, and previous, must have the axis of bodies"
                         : "there is no axis of bodies without offsets, or an input with it",
                     err);
}

collet_status op_rule_bodies(const op *o, op_shapes *views, const void *params, collet_error *err)
{
    const struct op_view *first = &views->operand[o->n_out], *offsets = offsets_of(o, views);
    int64_t bodies = -1;
    (void)params;
    if (offsets && !offsets->shape[0])
        return op_shape_error(o, views, "offsets is empty; B bodies have B + 1 offsets", err);
    if (offsets)
        bodies = offsets->shape[0] - 1;
    else if (has_letter(&o->operand[o->n_out].pattern[1], 'B') &&
             first->ndim == o->operand[o->n_out].pattern[1].ndim)
        bodies = first->shape[1];
    for (uint32_t k = 0; k < o->n_out + o->n_in; k++) {
        if (!views->operand[k].shape || !has_letter(&o->operand[k].pattern[1], 'B'))
            continue;
        collet_status status = expect_bodies(o, views, k, bodies, err);
        if (status != COLLET_OK)
            return status;
    }
    return offsets ? check_offsets(o, offsets, first->shape[1], err) : COLLET_OK;
}

/* L and kinetic need velocities, torque needs forces: without them nothing would write these
 * outputs. */
collet_status op_rule_observables(const op *o, op_shapes *views, const void *params,
                                  collet_error *err)
{
    static const uint32_t needs[][2] = {{2, 7}, {3, 8}, {4, 7}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (views->operand[needs[i][0]].shape && !views->operand[needs[i][1]].shape)
            return collet_fail(err, COLLET_INVALID, "%s: %s cannot be computed without %s", o->name,
                               o->operand[needs[i][0]].name, o->operand[needs[i][1]].name);
    return op_rule_bodies(o, views, params, err);
}
