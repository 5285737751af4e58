/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a compiled expression: constants, inputs that are numbers, functions of both. */
#pragma once

#include "compiled.h"

/* Sets the plan's constants to the graph's present values, except constants that depend on inputs, and sets p->misses.
 * DTYPE: a value does not fit its dtype; INVALID: a value cannot be computed. */
collet_status constants_set(plan *p, const graph *g, collet_error *err);

/* Stores all constants in `values`, given the inputs that are `numbers`; *misses as p->misses. Has the errors of
 * constants_set, and NO_MEMORY. */
collet_status constants_with(const plan *p, const graph *g, const collet_scalar *numbers,
                             collet_scalar *values, int *misses, collet_error *err);
