/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_COMMON_EVALUATE_H
#define TESTS_COMMON_EVALUATE_H

#include <collet/expression.h>

/* Evaluates e. Input i is the array ins[i], or the scalar numbers[i] if ins[i] is NULL. `numbers`
 * may be NULL if every input is an array. */
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

/* Infers the outputs of e. ins[i] describes input i; ndim COLLET_ABSENT: input i is a scalar. */
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
