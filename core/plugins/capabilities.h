/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capabilities - what a plugin can do on this machine, as strictly checked JSON.
 */
#ifndef CORE_PLUGINS_CAPABILITIES_H
#define CORE_PLUGINS_CAPABILITIES_H

#include <collet/plugin.h>

#include "refusal.h"

#define CAPABILITIES_MAX_BYTES 262144
#define CAPABILITIES_MAX_DEVICES 256

/*
 * Calls the slot of a verified table and checks the result. *json belongs to the caller (free).
 * "capabilities-failed": UNAVAILABLE, with the plugin's own text; "capabilities-invalid": FORMAT;
 * NO_MEMORY. Runs the plugin's code; may block while a driver starts.
 */
collet_status capabilities_get(const collet_plugin *plugin, const collet_host *host, char **json,
                               refusal *why);

/*
 * Checks the text: strict JSON, an object with boolean jit, parallel, gpu, an integer device_count
 * from 0 to CAPABILITIES_MAX_DEVICES and as many `devices`, each an object with a string "name"
 * (none: may be absent); `choices`, if present, is an object of strings. *device_count may be NULL.
 * FORMAT, NO_MEMORY.
 */
collet_status capabilities_verify(const char *json, int32_t *device_count, collet_error *err);

#endif
