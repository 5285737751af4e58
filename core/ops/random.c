/* SPDX-License-Identifier: Apache-2.0 */
/* The random family: typed calls. Every shape fits.
 * Tests: tests/core/test_fork.c */
#include <collet/collet.h>
#include <collet/ops/random.h>

static collet_status draw(collet_context *cx, uint32_t op, collet_array *out, uint64_t seed,
                          uint64_t offset)
{
    collet_random_params params = {.struct_size = sizeof params, .seed = seed, .offset = offset};
    return collet_call(cx, op, &out, NULL, &params);
}

collet_status collet_op_uniform(collet_context *cx, collet_array *out, uint64_t seed,
                                uint64_t offset)
{
    return draw(cx, COLLET_OP_UNIFORM, out, seed, offset);
}

collet_status collet_op_normal(collet_context *cx, collet_array *out, uint64_t seed,
                               uint64_t offset)
{
    return draw(cx, COLLET_OP_NORMAL, out, seed, offset);
}
