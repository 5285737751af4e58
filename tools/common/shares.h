/* SPDX-License-Identifier: Apache-2.0 */
/* shares.h - each device's share of the work, for messages and reports. */
#pragma once

#include <collet/devices.h>

#include <cjson/cJSON.h>

/* Prints "PROGRAM: warning: the device remote:1 failed; the other devices compute its part: REASON" to stderr. */
void tool_share_warn(const collet_device_share *share);
/* Prints "  remote:1: 12 energies, 30.1 a second; failed: REASON". */
void tool_share_print(const collet_device_share *share, const char *unit);
/* Adds {"device", UNIT, "seconds", "error"} to the list, which may be NULL if memory ran out. */
void tool_share_add(cJSON *list, const collet_device_share *share, const char *unit);

/* Reports what a plan has measured. Prints "  remote:1: 30.1 energies a second, about 40 % of them"
 * for each device, or adds to `root` the list "measured" of {"device", UNIT, "seconds", "part"}. */
void tool_shares_plan(const collet_device_share *shares, int64_t count, const char *unit,
                      cJSON *root);
