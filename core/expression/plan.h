/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles expressions. */
#pragma once

#include "compiled.h"

/* Compiles; `beyond`: of plan. DTYPE, NO_MEMORY. */
collet_status plan_create(plan **out, const graph *g, const collet_dtype *in_dtypes, int beyond,
                          collet_error *err);
void plan_destroy(plan *p);
