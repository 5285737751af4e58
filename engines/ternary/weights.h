/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "ternary/call.h"

struct collet_ternary_weights {
    collet_array *bytes; /* (M, B), t2, valid */
    collet_array *scale; /* (M) or NULL */
    int64_t columns;     /* K */
};

/* Creates weights from `bytes` and `scale`, which then belong to the weights; a failure destroys both. */
collet_status ternary_weights_adopt(ternary_call *call, collet_ternary_weights **out,
                                    collet_array *bytes, collet_array *scale, int64_t columns);

/* Like collet_ternary_weights_from_bytes; `what` begins the text of an error. */
collet_status ternary_weights_from_bytes(ternary_call *call, const char *what,
                                         collet_ternary_weights **out, const collet_array *bytes,
                                         int64_t columns, const collet_array *scale);

/* Creates another view of the whole array. If `array` is NULL, *out becomes NULL. */
collet_status ternary_share(collet_context *context, collet_array **out, const collet_array *array);

/* 1 if the array is NULL or of the context's runtime. */
int ternary_is_local(const collet_context *context, const collet_array *array);
