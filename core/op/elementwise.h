/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of elementwise.def. */
#pragma once

#include <collet/types.h>

/* The column `result` of elementwise.def. */
typedef enum elementwise_kind {
    ELEMENTWISE_SAME,
    ELEMENTWISE_BOOL,
    ELEMENTWISE_REAL,
    ELEMENTWISE_COMPLEX,
    ELEMENTWISE_SELECT,
} elementwise_kind;

typedef struct elementwise {
    const char *name, *derivative;
    uint32_t op, inputs;
    elementwise_kind result;
    uint32_t
        dtypes; /* bit d: operands (but the first of a SELECT, which is bool) may have dtype d */
} elementwise;

/* NULL: not an elementwise function. */
const elementwise *elementwise_of(uint32_t op);
const elementwise *elementwise_named(const char *name, size_t length);
/* Row `index`, in the order of ids; NULL beyond the last. */
const elementwise *elementwise_at(size_t index);

/* The dtype of the result for operands of `dtype`; COLLET_DTYPE_NONE: the function does not support the dtype. */
collet_dtype elementwise_result(const elementwise *e, collet_dtype dtype);
/* The dtype that operand i must have for operands of `dtype`. */
collet_dtype elementwise_operand(const elementwise *e, collet_dtype dtype, uint32_t i);
