/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capabilities - what a plugin can do on this machine, as strictly checked JSON.
 */
#ifndef COLLET_CORE_CAPABILITIES_H
#define COLLET_CORE_CAPABILITIES_H

#include <collet/plugin.h>

#define CAPABILITIES_MAX_BYTES 262144
#define CAPABILITIES_MAX_DEVICES 256

/*
 * Asks a verified table for its capabilities and checks them. *json belongs to the caller (free).
 * On failure *code is "capabilities-failed" or "capabilities-invalid". UNAVAILABLE (the text is the
 * plugin's own), FORMAT, NO_MEMORY. Runs the plugin's code; may block while a driver starts.
 */
collet_status capabilities_ask(const collet_plugin *plugin, const collet_host *host, char **json,
                               const char **code, collet_error *err);

/*
 * Checks the text: strict JSON, an object with boolean jit, parallel, gpu, an integer device_count
 * from 0 to CAPABILITIES_MAX_DEVICES and as many `devices`, each an object with a string "name";
 * `choices`, when there, is an object of strings.
 * *device_count may be NULL. FORMAT, NO_MEMORY.
 */
collet_status capabilities_verify(const char *json, int32_t *device_count, collet_error *err);

#endif
