/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of weak numbers (graph.h), with Python's rules. */
#pragma once

#include <collet/collet.h>

#include "util/literal.h"

/* Computes a function of weak numbers, the first `count` of the three in `in`: integers exactly, real and complex
 * numbers in f64. UNSUPPORTED, without a text: only kernels compute this function. INVALID, with the numbers in the
 * text, where Python raises an exception, too (division by zero, a negative shift, an overflow of f64), and if an
 * integer has more than LITERAL_BITS bits. */
collet_status fold(uint32_t op, const literal *in, uint32_t count, literal *out, collet_error *err);

/*
 * The dtype of fold's result if all operands, except the condition of where, are integers or bools: I64 or
 * BOOL. COLLET_DTYPE_NONE: the result is not certain to be either, or fold returns UNSUPPORTED. `integers`: 1
 * if an operand is an integer. *ranges: 1 if the bounds of the operands give the bounds of the result: the
 * results for the ends of the ranges, and 0 for abs and square of a range that contains 0. Else 0.
 */
collet_dtype fold_result(uint32_t op, int integers, int *ranges);

int fold_compares(uint32_t op);
