/* SPDX-License-Identifier: Apache-2.0 */
/* A device of a backend: listed in its capabilities, or named by a program. */
#pragma once

#include <string.h>

#include "backend.h"

#include <collet/extensions.h>

/* NULL: the device does not have the extension. */
typedef struct device_extensions {
    const collet_batch_extension *batch;
    const collet_copy_extension *copy;
    const collet_explain_extension *explain;
    const collet_memory_extension *memory;
    const collet_native_extension *native;
    const collet_pinned_extension *pinned;
    const collet_timing_extension *timing;
    const collet_trim_extension *trim;
} device_extensions;

/* Asks an open device, called `name` in messages, for the extensions that libcore uses. Tables that
 * cannot be used are logged as errors and left out. */
void extensions_find(device_extensions *found, const collet_plugin *plugin, collet_device *opened,
                     const char *name, const collet_host *host);

#define RUNTIME_DEVICES_EACH 16 /* maximum for one backend, so that others get devices, too */
#define DEVICE_NAMED UINT32_MAX

typedef struct queue queue;
typedef struct block block;

/* A kernel row that a device offers. */
typedef struct device_row {
    uint64_t sig;
    const collet_kernel_row *row;
} device_row;

/* FAILED: opening failed and is not tried again; LOST: the device failed after it was open. */
typedef enum device_state { DEVICE_CLOSED, DEVICE_OPEN, DEVICE_FAILED, DEVICE_LOST } device_state;

struct device {
    backend *owner;
    uint32_t index;                 /* number among the backend's devices, or DEVICE_NAMED */
    uint32_t ordinal;               /* number among the runtime's devices, < RUNTIME_DEVICES_MAX */
    char name[COLLET_MAX_NAME * 2]; /* "backend:1", "backend:text" */
    _Atomic int state;              /* device_state; OPEN and FAILED publish the members below */
    char *reason;                   /* why the state is FAILED */
    const collet_plugin *table;
    collet_device *handle;
    device_extensions extensions;
    memory_count memory; /* bytes that libcore has allocated on the device */
    int32_t space;       /* 0: works on host memory; else ordinal + 1 */
    int32_t synchronous;
    int32_t one_call;    /* 1: COLLET_THREADS_ONE; `calls` is held during each call */
    int32_t direct;      /* 1: synchronous, calls may overlap, and nothing is traced */
    uint32_t max_queues; /* 0: any number */
    pthread_mutex_t calls;
    uint32_t *first; /* rows of op slot s: rows[first[s]] .. rows[first[s + 1]) */
    device_row *rows;
    device *next_named; /* next element of owner->named */
    queue *queues;      /* all queues; under owner->lock */
    queue *idle;        /* queues that no context uses; under owner->lock */
    queue *copies;      /* for copies to other devices, made when needed; under owner->lock */
    _Atomic int hung;   /* 1: lost because a wait took too long; any call may hang */
    pthread_mutex_t retired_lock;
    block *retired, **retired_end; /* list of block.h, the oldest first; under retired_lock */
    _Atomic uint32_t retired_count;
    _Atomic int watched;         /* 1: exit() waits for its work (context/end.h) */
    struct spans *_Atomic spans; /* traced work (span.h); NULL: nothing was traced */
};

/* Makes the devices that the capabilities list. NO_MEMORY. */
collet_status devices_list(backend *b, uint32_t count, collet_error *err);
/* The device for the choice "backend:suffix"; `suffix` = "": the first device. A named device is
 * made at its first use. The backend must be open; any thread. INVALID: `suffix` is not a number,
 * and the backend supports no names; UNAVAILABLE with the reason. */
collet_status device_find(backend *b, const char *suffix, device **out, collet_error *err);
/* DEVICE_LOST, with the reason. */
collet_status device_lost(const device *d, collet_error *err);
/* The name to pass to device_open; NULL: the device has a number. */
static inline const char *device_given_name(const device *d)
{
    return d->index == DEVICE_NAMED ? strchr(d->name, ':') + 1 : NULL;
}

/* The name that collet_last_backend returns. */
static inline const char *device_called(const device *d)
{
    return d->index == DEVICE_NAMED ? d->name : d->owner->plugin->name;
}

/* Notes the status of a call through the device's table: a lost device is not used again. */
static inline collet_status device_note_status(device *d, collet_status status)
{
    if (status == COLLET_DEVICE_LOST)
        atomic_store(&d->state, DEVICE_LOST);
    return status;
}

/* device_enter and device_leave enclose each call of a slot, row or extension of an open device. If the device
 * supports only one thread, these functions allow only one call at a time. Take no lock in between. */
static inline void device_enter(device *d)
{
    if (d->one_call)
        pthread_mutex_lock(&d->calls);
}
/* Notes and returns `status`, the status of the call. */
static inline collet_status device_leave(device *d, collet_status status)
{
    if (d->one_call)
        pthread_mutex_unlock(&d->calls);
    return device_note_status(d, status);
}

static inline void device_trim(device *d)
{
    if (!d->extensions.trim)
        return;
    device_enter(d);
    d->extensions.trim->trim(d->handle);
    device_leave(d, COLLET_OK);
}
