/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the devices for a context's calls, in order of preference. */
#pragma once

#include "device/device.h"

typedef struct selection {
    char *choice;    /* the text of the choice */
    int32_t several; /* 1: auto, or more than one device is named */
    int32_t automatic;
    uint32_t count; /* number of chosen devices */
    uint32_t total; /* chosen devices, then the devices that only an explicit fallback may use; with
                       auto equal to count */
    device *devices[RUNTIME_DEVICES_MAX];
} selection;

/* Parses "auto", "name", "name:1", "a,b:0,c" against the runtime's backends. Named backends are
 * opened until their devices are known. UNKNOWN_BACKEND (also if the text has another form), UNAVAILABLE (under
 * auto: nothing is usable), NO_MEMORY; *out is written only on success. */
collet_status selection_parse(collet_runtime *runtime, const char *choice, selection *out,
                              collet_error *err);
/* Opens a single device: "name" is the backend's first, "name:device" another. INVALID for other texts: the message
 * names the function `what` and says that `name` must be `expected`. Other errors are the errors of
 * selection_parse. */
collet_status selection_device(const collet_runtime *runtime, const char *what, const char *name,
                               const char *expected, device **out, collet_error *err);
/* Called when no device of the selection can run a call. Adds the devices of the next backend in the order of
 * preference to `total`, and under auto to `count`, too. Opens this backend if it is unproven.
 * Returns 0 if there is no further backend. */
int selection_extend(collet_runtime *runtime, selection *s);
void selection_clear(selection *s);

/* Appends to an error how the user can let another backend run a call for which the chosen device
 * has no kernel; "" if no backend can. `fallback` is the context's. */
void selection_remedy(const collet_runtime *r, const selection *s, int32_t fallback,
                      char text[256]);
