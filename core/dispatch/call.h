/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch: validates a call and runs its kernel. */
#ifndef CORE_DISPATCH_CALL_H
#define CORE_DISPATCH_CALL_H

#include "memory/array.h"

/* Copies the elements of `from` to `to`, which has the same dtype and shape and another storage:
 * with the context's backend, or in host memory if the backend cannot. */
collet_status call_copy(collet_context *cx, collet_array *to, const collet_array *from);

#endif
