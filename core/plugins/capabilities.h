/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capabilities - the features and devices of a plugin on this machine, as strictly checked JSON.
 */
#pragma once

#include <collet/plugin.h>

#include "record.h"

#define CAPABILITIES_MAX_BYTES 262144
#define CAPABILITIES_MAX_DEVICES 256

/* Calls the slot of a verified table and checks the result. *json belongs to the caller (free).
 * "capabilities-failed": UNAVAILABLE, with the plugin's own text; "capabilities-invalid": FORMAT;
 * NO_MEMORY. Runs the plugin's code; may block while a driver starts. */
collet_status capabilities_get(const collet_plugin *plugin, const collet_host *host, char **json,
                               refusal *why);

/*
 * Checks the text: strict JSON, an object with boolean jit, parallel, gpu, an integer device_count
 * from 0 to CAPABILITIES_MAX_DEVICES and the same number of `devices`, each an object with a string "name" (`devices`
 * may be absent if the number is 0); `choices`, if present, is an object of strings; `lasting`, if present, is a
 * boolean.
 * *device_count and *lasting may be NULL. *lasting is 1 if there is a device, or if there will be no device until an
 * entry of the manifest's `depends` changes. FORMAT, NO_MEMORY.
 */
collet_status capabilities_verify(const char *json, int32_t *device_count, int32_t *lasting,
                                  collet_error *err);
