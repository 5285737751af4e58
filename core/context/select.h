/* SPDX-License-Identifier: Apache-2.0 */
/* The devices for a context's calls, in order of preference. */
#ifndef CORE_CONTEXT_SELECT_H
#define CORE_CONTEXT_SELECT_H

#include "device/device.h"

typedef struct selection {
    char *choice;    /* as given */
    int32_t several; /* more than one device is named, or auto */
    int32_t automatic;
    uint32_t count; /* of those that are chosen */
    uint32_t total; /* with those behind them that an explicit fallback may use; auto: count */
    device *devices[RUNTIME_DEVICES_MAX];
} selection;

/*
 * Parses "auto", "name", "name:1", "a,b:0,c" against the runtime's backends. Named backends are
 * opened until their devices are known. INVALID (syntax), UNKNOWN_BACKEND, UNAVAILABLE (under
 * auto: nothing is usable), NO_MEMORY; *out is written only on success.
 */
collet_status selection_parse(collet_runtime *runtime, const char *choice, selection *out,
                              collet_error *err);
/* When no device of the selection serves: adds to `total`, under auto to `count` too, the devices
 * of the first backend, in the order of preference, that has others; unproven ones are opened. 0:
 * there is none. */
int selection_extend(collet_runtime *runtime, selection *s);
void selection_clear(selection *s);

#endif
