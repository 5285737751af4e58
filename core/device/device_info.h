/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of devices as fields: what the capabilities say, and what is known of an open one. */
#ifndef CORE_DEVICE_DEVICE_INFO_H
#define CORE_DEVICE_DEVICE_INFO_H

#include "device.h"

/* All of its memory, as its capabilities say; 0: unknown. */
uint64_t device_memory_bytes(const device *d);

#endif
