/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluations of expressions. */
#ifndef CORE_EXPRESSION_EVALUATE_H
#define CORE_EXPRESSION_EVALUATE_H

#include "expression.h"

/* collet_expression_evaluate with `ins`, or where one is NULL `numbers` (NULL: there are none), by the numbers of the
 * inputs; `by_steps` 1: by single ops alone, for tests. */
collet_status expression_evaluate(collet_context *cx, collet_expression *e,
                                  collet_array **outs, const collet_array *const *ins,
                                  const collet_scalar *numbers, int by_steps);

#endif
