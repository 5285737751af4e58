/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch: validates a call and runs its kernel. */
#ifndef CORE_DISPATCH_CALL_H
#define CORE_DISPATCH_CALL_H

#include "frame.h"

/* Copies the elements of `from` to `to`, which has the same dtype and shape and another storage:
 * with the context's backend, or in host memory if the backend cannot. */
collet_status call_copy(collet_context *cx, collet_array *to, const collet_array *from);

/* Index, in the context's selection, of the device that is tried first. With auto the fastest, where
 * devices were measured; else one that has the only valid copy of an input. */
uint32_t call_preferred(const frame *f);

#endif
