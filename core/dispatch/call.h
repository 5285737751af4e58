/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the typed wrappers. */
#ifndef COLLET_CORE_CALL_H
#define COLLET_CORE_CALL_H

#include <collet/collet.h>

/* collet_call of an op with two inputs, one output and no parameters. */
static inline collet_status call_two(collet_context *cx, uint32_t id, collet_array *out,
                                     const collet_array *a, const collet_array *b)
{
    const collet_array *ins[] = {a, b};
    return collet_call(cx, id, &out, ins, NULL);
}

#endif
