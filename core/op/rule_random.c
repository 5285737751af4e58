/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of the random family.
 * Tests: tests/core/test_infer.c */
#include "rules.h"

#include <inttypes.h>

collet_status op_rule_variate(const op *o, op_shapes *views, const void *params, collet_error *err)
{
    const collet_variate_params *p = params;
    if (p->distribution > COLLET_VARIATE_VONMISES)
        return collet_fail(err, COLLET_INVALID,
                           "%s: distribution is %" PRIu32 "; it must be 0 (gamma) to %d (vonmises)",
                           o->name, p->distribution, COLLET_VARIATE_VONMISES);
    uint32_t last = p->distribution == COLLET_VARIATE_HYPERGEOMETRIC ? 3
                    : p->distribution == COLLET_VARIATE_BINOMIAL     ? 2
                                                                     : 1;
    for (uint32_t k = 2; k <= last; k++)
        if (!views->operand[k].shape)
            return collet_fail(err, COLLET_INVALID, "%s: %s is absent; this distribution needs it",
                               o->name, k == 2 ? "b" : "c");
    return COLLET_OK;
}
