/* SPDX-License-Identifier: Apache-2.0 */
/* The values of an expression while it is compiled, and their conversions. */
#pragma once

#include "compiled.h"

typedef enum typed_form {
    TYPED_READY,    /* `id` is the value */
    TYPED_NUMBER,   /* known to the host; becomes a constant where it is used */
    TYPED_SELECTED, /* a weak `where` of numbers; computed where it is used, in the dtype of that use */
} typed_form;

/* A value of the graph. */
typedef struct typed {
    uint32_t id;
    collet_dtype dtype;
    uint8_t weak; /* adapts to other operands */
    uint8_t form;
    uint32_t number; /* TYPED_NUMBER: the number; TYPED_SELECTED integer: its range */
    uint32_t node;   /* TYPED_SELECTED: its node */
    struct {         /* the values of the dtypes in which it is computed already */
        collet_dtype dtype;
        uint32_t id;
    } made[2];
} typed;

typedef struct compiler {
    plan *p;
    const graph *g;
    typed *values; /* a value for each node */
    uint32_t node; /* the node that is being compiled */
    collet_error *err;
} compiler;

/* Errors of these functions: NO_MEMORY; DTYPE if a value has no conversion to the dtype. */

collet_status value_no_memory(compiler *c);
/* Adds a constant; `compares` and `beside` as in plan_constant. */
collet_status value_constant(compiler *c, const plan_constant *k, typed *out);
/* Adds a step, or finds an equal step among the latest steps. */
collet_status value_step(compiler *c, const plan_step *s, typed *out);
/* The program_shape of a value. */
uint8_t value_shape(const plan *p, uint32_t id);
/* Adds a step, even if an equal step exists. */
collet_status value_own_step(compiler *c, const plan_step *s, typed *out);
collet_status value_range(compiler *c, const plan_range *r, uint32_t *number);
/* Converts a value to a dtype; *out is TYPED_READY. */
collet_status value_convert(compiler *c, const typed *v, collet_dtype dtype, typed *out);

/* 1: the value is an integer or bool of Python, and the host knows its value or bounds. */
static inline int value_is_known(const typed *v)
{
    return v->weak && v->form != TYPED_READY && (v->dtype == COLLET_I64 || v->dtype == COLLET_BOOL);
}
