/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch: validates a call and runs its kernel. */
#pragma once

#include "frame.h"

/* Copies the elements of `from` to `to`, which has the same dtype and shape and another storage. Uses the context's
 * backend, or copies in host memory if the backend cannot. */
collet_status call_copy(collet_context *cx, collet_array *to, const collet_array *from);

/* Index, in the context's selection, of the device that is tried first. Under "auto": the device
 * with the shortest predicted time, if devices were measured; else a device with the only valid
 * copy of an input; else the first. */
uint32_t call_preferred(const frame *f);

/* The k-th device that may run the call: first the device number `first` (of call_preferred), then the other devices
 * in order. If fallback is on or the choice is auto, further backends are opened. NULL: no more. */
device *call_device(frame *f, uint32_t first, uint32_t k);

/* Whether the call is tried on the next device if a device cannot run it. */
int call_falls_back(const frame *f);

/* The end of an error message: what the user can do if the call may not try another device, or "". */
void call_remedy(const frame *f, char text[256]);

/* While programs are checked: 1, with the context's error, if the program has destroyed an operand. */
int call_operands_fault(collet_context *cx, uint32_t id, collet_array *const *outs,
                        const collet_array *const *ins);
