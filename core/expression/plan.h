/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles expressions. */
#ifndef CORE_EXPRESSION_PLAN_H
#define CORE_EXPRESSION_PLAN_H

#include "compiled.h"

/* Compiles; DTYPE, NO_MEMORY. */
collet_status plan_create(plan **out, const graph *g, const collet_dtype *in_dtypes,
                          collet_error *err);
void plan_destroy(plan *p);

/* Gives the constants their values of now. DTYPE: one does not fit. */
collet_status plan_set_constants(plan *p, const graph *g, collet_error *err);

/* The constants of a piece, with the inputs that are numbers. DTYPE: one does not fit. */
collet_status plan_piece_constants(const plan *p, const graph *g, const plan_piece *piece,
                                   collet_scalar *values, const collet_scalar *numbers,
                                   collet_error *err);

#endif
