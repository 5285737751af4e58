/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of observables: which outputs it can compute.
 * Tests: tests/core/test_infer.c, tests/core/test_operands.c */
#include "rules.h"

/* L and kinetic need velocities, torque needs forces: without them nothing would write these
 * outputs. */
collet_status op_rule_observables(const op *o, op_shapes *views, const void *params,
                                  collet_error *err)
{
    static const uint32_t needs[][2] = {{2, 7}, {3, 8}, {4, 7}};
    (void)params;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (views->operand[needs[i][0]].shape && !views->operand[needs[i][1]].shape)
            return collet_fail(err, COLLET_INVALID, "%s: %s cannot be computed without %s", o->name,
                               o->operand[needs[i][0]].name, o->operand[needs[i][1]].name);
    return COLLET_OK;
}
