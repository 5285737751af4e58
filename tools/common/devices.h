/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - the devices that share the work of a process, or of the processes of a host. */
#ifndef TOOLS_COMMON_DEVICES_H
#define TOOLS_COMMON_DEVICES_H

#include <collet/collet.h>

#define TOOL_DEVICES 64

typedef struct tool_devices {
    int64_t count;
    char choice[TOOL_DEVICES][64];
    char rest[512]; /* backends after them, as the program's choice has them, each after a comma */
} tool_devices;

/* One of `size` processes of this host, which divide the devices: each has its own, or shares one if
 * there are fewer. rank 0 of 1 has all. */
typedef struct tool_place {
    int64_t rank, size;
} tool_place;

/* The devices of `list`; NULL: where the context's choice leads to a backend of several devices,
 * all that have the first one's name and open; else none, as the choice does. UNKNOWN_BACKEND,
 * UNAVAILABLE, INVALID. */
collet_status tool_devices_choose(tool_devices *devices, collet_context *context, const char *list,
                                  tool_place place, collet_error *err);
/* A context for device i. */
collet_status tool_devices_context(const tool_devices *devices, int64_t i, collet_runtime *runtime,
                                   collet_context **out, collet_error *err);

#endif
