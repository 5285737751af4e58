/* SPDX-License-Identifier: Apache-2.0 */
/* Weights and networks share this. */
#ifndef COLLET_CORE_OPS_TERNARY_H
#define COLLET_CORE_OPS_TERNARY_H

#include <collet/collet.h>

struct collet_ternary_weights {
    collet_array *bytes; /* (M, B), t2, valid */
    collet_array *scale; /* (M) or NULL */
    int64_t columns;     /* K */
};

/* Another array of the same storage and axes; NULL of NULL. */
collet_status ternary_share(collet_context *cx, collet_array **out, const collet_array *array);

#endif
