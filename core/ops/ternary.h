/* SPDX-License-Identifier: Apache-2.0 */
/* Ops, weights and networks share this. */
#ifndef COLLET_CORE_OPS_TERNARY_H
#define COLLET_CORE_OPS_TERNARY_H

#include <collet/collet.h>

struct collet_ternary_weights {
    collet_array *bytes; /* (M, B), t2, valid */
    collet_array *scale; /* (M) or NULL */
    int64_t columns;     /* K */
};

/*
 * Whether ternary_linear has such activations, and they such a threshold; INVALID with the reason,
 * behind `who` and a colon.
 */
collet_status ternary_check_activations(const char *who, uint32_t activations, float threshold,
                                        collet_error *err);

/* Another array of the same storage and axes; NULL of NULL. */
collet_status ternary_share(collet_context *cx, collet_array **out, const collet_array *array);

#endif
