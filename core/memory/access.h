/* SPDX-License-Identifier: Apache-2.0 */
/* Access of the host to arrays: acquire, release, and copies in its memory. */
#ifndef CORE_MEMORY_ACCESS_H
#define CORE_MEMORY_ACCESS_H

#include "array.h"
#include "context/context.h"

#define ARRAY_READONLY "the array wraps read-only memory and cannot be written"

/* Whether the context may acquire the array; errors go to the context. */
collet_status array_acquirable(collet_context *cx, const char *what, const collet_array *a,
                               int32_t access);

/* Copies the elements of `from` to `to`, of the same dtype and shape and in another storage, in
 * host memory. */
collet_status array_copy_on_host(collet_context *cx, collet_array *to, const collet_array *from);

#endif
