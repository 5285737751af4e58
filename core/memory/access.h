/* SPDX-License-Identifier: Apache-2.0 */
/* Access to arrays on the host: acquire, release, and copies in host memory. */
#pragma once

#include "array.h"
#include "context/context.h"

#define ARRAY_READONLY "the array wraps read-only memory and cannot be written"

/* Returns INVALID for NULL, and for an array of another runtime, because the context has no devices or queues of that
 * runtime. `what`: the function's name, for messages. */
static inline collet_status array_usable(collet_context *cx, const char *what,
                                         const collet_array *a)
{
    if (a && a->storage->runtime == cx->runtime)
        return COLLET_OK;
    return context_fail(cx, COLLET_INVALID, "%s: the array %s", what,
                        a ? "belongs to another runtime" : "is NULL");
}

/* Checks that the context may acquire the array; errors go to the context. */
collet_status array_acquirable(collet_context *cx, const char *what, const collet_array *a,
                               int32_t access);

/* Copies the elements of `from` to `to`, which has the same dtype and shape and another storage, in
 * host memory. */
collet_status array_copy_on_host(collet_context *cx, collet_array *to, const collet_array *from);
