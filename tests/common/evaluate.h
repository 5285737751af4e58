/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_COMMON_EVALUATE_H
#define TESTS_COMMON_EVALUATE_H

#include <collet/expression.h>

/* Evaluates with the inputs in the order of their numbers: ins[i], or where that is NULL numbers[i]
 * (numbers NULL: there are none). */
static inline collet_status evaluate_in_order(collet_context *cx, collet_expression *e,
                                              collet_array **outs, const collet_array *const *ins,
                                              const collet_scalar *numbers)
{
    collet_argument arguments[COLLET_EXPRESSION_INPUTS];
    uint32_t count = collet_expression_input_count(e);
    for (uint32_t i = 0; i < count; i++) {
        arguments[i] = (collet_argument){.name = collet_expression_input_name(e, i), .array = ins[i]};
        if (numbers)
            arguments[i].number = numbers[i];
    }
    return collet_expression_evaluate(cx, e, outs, arguments, count);
}

/* Infers with specs in the order of the inputs' numbers; one of the ndim COLLET_ABSENT is a number. */
static inline collet_status infer_in_order(collet_expression *e, collet_array_spec *outs,
                                           const collet_array_spec *ins, collet_error *err)
{
    collet_argument arguments[COLLET_EXPRESSION_INPUTS];
    uint32_t count = collet_expression_input_count(e);
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = (collet_argument){.name = collet_expression_input_name(e, i),
                                         .spec = ins[i].ndim == COLLET_ABSENT ? NULL : &ins[i],
                                         .number = {.dtype = ins[i].dtype}};
    return collet_expression_infer(e, outs, sizeof *outs, arguments, count, err);
}

#endif
