/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - the devices that share the energies. */
#ifndef TOOLS_RSOXS_DEVICES_DEVICES_H
#define TOOLS_RSOXS_DEVICES_DEVICES_H

#include <collet/collet.h>

#define RSOXS_DEVICES 64

typedef struct rsoxs_devices {
    int64_t count;
    char choice[RSOXS_DEVICES][64];
    char rest[512]; /* backends after them, as the program's choice has them, each after a comma */
} rsoxs_devices;

/* One of `size` processes of this host, which divide the devices: each has its own, or shares one if
 * there are fewer. rank 0 of 1 has all. */
typedef struct rsoxs_place {
    int64_t rank, size;
} rsoxs_place;

/* The devices of `list`; NULL: where the context's choice leads to a backend of several devices,
 * all that have the first one's name and open; else none, as the choice does. UNKNOWN_BACKEND,
 * UNAVAILABLE, INVALID. */
collet_status rsoxs_devices_choose(rsoxs_devices *devices, collet_context *context,
                                   const char *list, rsoxs_place place, collet_error *err);
/* A context for device i. */
collet_status rsoxs_devices_context(const rsoxs_devices *devices, int64_t i,
                                    collet_runtime *runtime, collet_context **out,
                                    collet_error *err);

#endif
