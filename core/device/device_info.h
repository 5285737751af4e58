/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of devices as fields, from the capabilities and, for an open device, from its
 * properties. */
#pragma once

#include "device.h"

/* The size of a device's memory, from the capabilities; for a processor at most the memory that the process may use.
 * 0: unknown. */
uint64_t device_memory_bytes(const device *d);
/* Whether the device is a processor, by its capabilities: its driver has threads in this process.
 * */
int device_is_processor(const device *d);
