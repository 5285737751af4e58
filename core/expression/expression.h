/* SPDX-License-Identifier: Apache-2.0 */
/* An expression: its graph, and the plans of the dtypes with which it was evaluated. */
#pragma once

#include <pthread.h>

#include "plan.h"

#define EXPRESSION_PLANS 16

struct collet_expression {
    graph graph;
    pthread_mutex_t lock; /* guards the members below */
    plan *plans[EXPRESSION_PLANS];
    uint64_t clock;
    uint64_t version; /* version of the constants */
};

/* The plan for these dtypes and `beyond` (of plan), valid until expression_release. A new plan replaces the least
 * recently used plan. DTYPE; INVALID if there is no output; NO_MEMORY. */
collet_status expression_plan(collet_expression *e, plan **out, const collet_dtype *dtypes,
                              int beyond, collet_error *err);
void expression_release(collet_expression *e, plan *p);
/* INVALID: no input has this name; the text lists the names. */
collet_status expression_unknown(const graph *g, const char *name, collet_error *err);
