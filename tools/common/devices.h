/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - chooses the devices that share the work of a process, or of all processes of a job on a host. */
#pragma once

#include <collet/collet.h>

#define TOOL_DEVICES 64

typedef struct tool_devices {
    int64_t count;
    char choice[TOOL_DEVICES][64];
    char rest[512]; /* backends that follow these devices in the choice, each after a comma */
} tool_devices;

/* Process `rank` of the `size` processes on this host that divide the devices. Each process gets its own devices; if
 * there are fewer devices than processes, some share a device. rank 0 of size 1 gets all devices. */
typedef struct tool_place {
    int64_t rank, size;
} tool_place;

/* Chooses the devices of `list`. If `list` is NULL and the context's choice leads to a backend with several
 * devices, chooses all devices that have the same name as the first and can be opened; else none: the
 * context's choice remains. UNKNOWN_BACKEND, UNAVAILABLE, INVALID. */
collet_status tool_devices_choose(tool_devices *devices, collet_context *context, const char *list,
                                  tool_place place, collet_error *err);
/* Creates a context for device i. */
collet_status tool_devices_context(const tool_devices *devices, int64_t i, collet_runtime *runtime,
                                   collet_context **out, collet_error *err);
