/* SPDX-License-Identifier: Apache-2.0 */
/* A backend: a plugin that was found, and its devices. */
#pragma once

#include <cjson/cJSON.h>

#include "runtime.h"

struct backend {
    collet_runtime *runtime;
    const loader_plugin *plugin;
    pthread_mutex_t lock; /* guards opening, and members marked "under owner->lock" */
    _Atomic int state;    /* COLLET_BACKEND_* */
    _Atomic int skipped;  /* 1: the warning that a list skips it was logged */
    char *reason;         /* why it is UNAVAILABLE, unless the loader has the reason; under lock */
    char *capabilities;   /* queried in this process; NULL: the probe's are used */
    cJSON *description;   /* the capabilities parsed; published by `state` */
    const cJSON
        *choices; /* choices in the probe's capabilities; constant after the backends are listed */
    struct calibration *calibration; /* NULL: none; constant after the backends are listed */
    const collet_plugin *table; /* NULL until opened */
    uint32_t *own_ops;          /* id of the plugin's op k; 0: it was left out */
    uint32_t device_count;
    device *devices; /* devices that the capabilities list */
    device *named;   /* devices that programs named; under lock */
};

/* COLLET_BACKEND_* for "auto" and device numbers: a backend that has devices only by name is
 * UNAVAILABLE for them, although its state is USABLE. */
int backend_state(const backend *b);
/* The reason why a backend in `state` (loaded from b->state) is unusable or unproven; else "". */
const char *backend_reason(const backend *b, int state);

/* Logs and records that a part of a plugin is left out; `code` is a code of loader.h. NO_MEMORY. */
collet_status backend_left_out(const backend *b, const char *code, const char *text,
                               collet_error *err);
