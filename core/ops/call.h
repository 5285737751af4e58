/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the typed wrappers. */
#ifndef CORE_OPS_CALL_H
#define CORE_OPS_CALL_H

#include <collet/collet.h>

/* The operands of a call. */
#define OUTS(...) ((collet_array *[]){__VA_ARGS__})
#define INS(...) ((const collet_array *[]){__VA_ARGS__})

/* Sets bit i of *mask for each of `count` axes i of `a` (negative ones count from the end); axes
 * NULL: all. INVALID. */
collet_status call_axes(collet_context *cx, const char *name, const collet_array *a,
                        const int32_t *axes, int32_t count, uint32_t *mask);

#endif
