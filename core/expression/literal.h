/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of expressions: arithmetic as Python has it, and conversion to a dtype. */
#ifndef CORE_EXPRESSION_LITERAL_H
#define CORE_EXPRESSION_LITERAL_H

#include <collet/types.h>

collet_scalar literal_integer(int64_t value);
collet_scalar literal_real(double value);
/* 1 if a number (i64, f64 or c128) has this real value. */
int literal_is(const collet_scalar *s, double value);

/* Computes an op (add, sub, mul, div, floor_divide, remainder, pow, neg) of weak numbers; 0: not
 * computed, because the op is another one, or the result would not be exact in 64 bits or an
 * error in Python. `b` is NULL for neg. */
int literal_fold(uint32_t op, const collet_scalar *a, const collet_scalar *b, collet_scalar *out);

/* Converts as `copy` does, real numbers also to complex ones. 0: an integer that is out of range of
 * an integer dtype; complex to real. */
int literal_convert(collet_scalar *out, collet_dtype dtype, const collet_scalar *from);

#endif
