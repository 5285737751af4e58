/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluations of expressions. */
#pragma once

#include "expression.h"

/* collet_expression_evaluate with the arguments in the order of the inputs: ins[i] is an array or, if it is NULL, input
 * i is numbers[i]. numbers = NULL: all inputs are arrays. by_steps = 1: only single ops are used, for tests. */
collet_status expression_evaluate(collet_context *cx, collet_expression *e,
                                  collet_array **outs, const collet_array *const *ins,
                                  const collet_scalar *numbers, int by_steps);
