/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/random/variates.c */
#include <stdio.h>

#include "shared/jit/runtime/launch.h"
#include "shared/jit/runtime/rows.h"

#include "shared/jit/texts.h"
#include "shared/jit/runtime/view.h"

static const jit_source source =
    JIT_SOURCE("variates", jit_text_language_convert, jit_text_formula_philox, jit_text_formula_variate,
               jit_text_random_variates);

/* The operands, which may have any strides. An absent operand is a null pointer in the kernel. */
JIT_KERNEL(variates)
{
    const jit_traits *t = jit_traits_of(device);
    int integers = call->op == COLLET_OP_INTEGERS;
    const collet_random_params *numbers = call->params;
    const collet_variate_params *variates = call->params;
    jit_launch l;
    jit_view view;
    uint64_t groups = jit_view_of(&view, t, call, integers ? 3 : 4);
    char options[64];
    if (integers)
        snprintf(options, sizeof options, "-DVIEW_OPERANDS=4 -DINTEGERS");
    else
        snprintf(options, sizeof options, "-DVIEW_OPERANDS=4 -DNEEDS_F64=1 -DTO=%s -DLAW=%u",
                 operand_of(call, 0)->dtype == COLLET_F64 ? "f64" : "i64", variates->distribution);
    jit_launch_begin(&l, &source, options, "variates");
    jit_pass_operands(&l, call, integers ? 3 : 4);
    jit_pass_u64(&l, integers ? numbers->seed : variates->seed);
    jit_pass_u64(&l, integers ? numbers->offset : variates->offset);
    jit_pass_view(&l, &view, 4);
    return jit_enqueue(device, queue, &l, groups, call->err);
}
