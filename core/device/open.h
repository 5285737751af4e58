/* SPDX-License-Identifier: Apache-2.0 */
/* Opens backends and devices, each at its first use. */
#pragma once

#include "device.h"

/* Makes the devices that the capabilities list, and sets b->state. UNAVAILABLE, NO_MEMORY. */
collet_status backend_describe(backend *b, const char *capabilities, collet_error *err);
/* Opens the plugin once (state UNPROVEN becomes USABLE or UNAVAILABLE); any thread. UNAVAILABLE
 * with the reason. */
collet_status backend_open(backend *b, collet_error *err);

/* Opens the device once; any thread. UNAVAILABLE with the reason (also of an earlier attempt),
 * DEVICE_LOST, NO_MEMORY. */
collet_status device_open(device *d, collet_error *err);
/* Closes an open device, after its queues and blocks were destroyed. */
void device_close(device *d);
