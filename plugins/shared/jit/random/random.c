/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/random/random.c */
#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

#include "shared/jit/texts.h"
#include "shared/jit/runtime/view.h"

static const jit_source source = JIT_SOURCE("random", JIT_FUNCTIONS, jit_text_formula_philox,
                                            jit_text_random_random);

static const char *options_of(const collet_kernel_call *call)
{
    int narrow = operand_of(call, 0)->dtype == COLLET_F32;
    if (call->op == COLLET_OP_NORMAL)
        return narrow ? "-DTO=f32 -DLAW=NORMAL" : "-DTO=f64 -DLAW=NORMAL";
    if (call->op == COLLET_OP_EXPONENTIAL)
        return narrow ? "-DTO=f32 -DLAW=EXPONENTIAL" : "-DTO=f64 -DLAW=EXPONENTIAL";
    return narrow ? "-DTO=f32 -DLAW=UNIFORM" : "-DTO=f64 -DLAW=UNIFORM";
}

JIT_KERNEL(random)
{
    const collet_random_params *params = call->params;
    const jit_traits *t = jit_traits_of(device);
    const collet_operand *out = operand_of(call, 0);
    int adjacent = jit_contiguous(out);
    uint64_t lanes = out->dtype == COLLET_F32 ? 4 : 2, count = (uint64_t)operand_count(out);
    /* The first block is the block that contains number `offset`. */
    uint64_t blocks = count ? jit_ceiling(params->offset % lanes + count, lanes) : 0;
    jit_launch l;
    jit_view view;
    jit_launch_begin(&l, &source, options_of(call), adjacent ? "adjacent" : "strided");
    jit_pass_operand(&l, out);
    jit_pass_u64(&l, params->seed);
    jit_pass_u64(&l, params->offset);
    jit_pass_i64(&l, (int64_t)count);
    if (!adjacent) {
        jit_view_of(&view, t, call, 1);
        jit_pass_view(&l, &view, 3);
    }
    return jit_enqueue(device, queue, &l, jit_ceiling(blocks, t->group), call->err);
}
