/* SPDX-License-Identifier: Apache-2.0 */
/* backends.h - the memory that the work needs on each backend, and the choice of the backend. */
#pragma once

#include "state.h"

typedef struct rsoxs_backend {
    const char *name; /* valid as long as the runtime exists */
    int32_t priority;
    int usable, chosen;
    char why[COLLET_ERROR_TEXT]; /* why the backend cannot be used, or why it is chosen */
    tool_devices devices;       /* without an entry, the first device is used */
    char first[64];              /* device */
    collet_scatter_plan plan;
    double bytes; /* the size of the arrays of all beams on each device */
    uint64_t has; /* the first device's memory; 0: unknown */
} rsoxs_backend;

/* Returns the size in bytes of the arrays of all beams if one beam is computed at a time. */
double rsoxs_plan_bytes(const rsoxs_run *run, const collet_scatter_plan *plan);
/* Plans the work on each backend, in the order in which auto prefers them. The caller frees *out. */
collet_status rsoxs_backends(const rsoxs_run *run, rsoxs_backend **out, size_t *count,
                             collet_error *err);
