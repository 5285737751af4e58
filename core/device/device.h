/* SPDX-License-Identifier: Apache-2.0 */
/* A device of a backend: one that its capabilities list, or that a program named. */
#ifndef CORE_DEVICE_DEVICE_H
#define CORE_DEVICE_DEVICE_H

#include <string.h>

#include "backend.h"
#include "extensions.h"

#define RUNTIME_DEVICES_EACH 16 /* of one backend, so that places are left for the others */
#define DEVICE_NAMED UINT32_MAX

typedef struct queue queue;
typedef struct block block;

/* A kernel row that a device offers. */
typedef struct device_row {
    uint64_t sig;
    const collet_kernel_row *row;
} device_row;

/* FAILED: opening failed and is not retried; LOST: after it was open. */
typedef enum device_state { DEVICE_CLOSED, DEVICE_OPEN, DEVICE_FAILED, DEVICE_LOST } device_state;

struct device {
    backend *owner;
    uint32_t index;                 /* of the backend, or DEVICE_NAMED */
    uint32_t ordinal;               /* of the runtime, < RUNTIME_DEVICES_MAX */
    char name[COLLET_MAX_NAME * 2]; /* "backend:1", "backend:text" */
    _Atomic int state;              /* device_state; OPEN and FAILED publish the members below */
    char *reason;                   /* of state FAILED */
    const collet_plugin *table;
    collet_device *handle;
    device_extensions extensions;
    memory_count memory; /* what libcore has allocated there */
    int32_t space;       /* 0: works on host memory; else ordinal + 1 */
    int32_t synchronous;
    int32_t one_call;    /* COLLET_THREADS_ONE: `calls` is held during each call */
    int32_t direct;      /* synchronous, and calls may overlap */
    uint32_t max_queues; /* 0: any number */
    pthread_mutex_t calls;
    uint32_t *first; /* rows of op slot s: rows[first[s]] .. rows[first[s + 1]) */
    device_row *rows;
    device *next_named; /* of owner->named */
    queue *queues;      /* all, under owner->lock */
    queue *idle;        /* those that no context uses, under owner->lock */
    queue *copies;      /* for copies to other devices, made at the first; under owner->lock */
    _Atomic int hung;   /* lost because a wait took too long: it may hang in any call */
    pthread_mutex_t retired_lock;
    block *retired, **retired_end; /* block.h; oldest first, under retired_lock */
    _Atomic uint32_t retired_count;
};

/* Makes the devices that the capabilities list. NO_MEMORY. */
collet_status devices_list(backend *b, uint32_t count, collet_error *err);
/* The device of the choice "backend:suffix", or "backend" if `suffix` is "": made at its first use
 * where it is a name. The backend is open; any thread. INVALID: `suffix` is not a number, and the
 * backend takes no names; UNAVAILABLE with the reason. */
collet_status device_find(backend *b, const char *suffix, device **out, collet_error *err);
/* The name for device_open; NULL: the device has a number. */
static inline const char *device_given_name(const device *d)
{
    return d->index == DEVICE_NAMED ? strchr(d->name, ':') + 1 : NULL;
}

/* As collet_last_backend gives it. */
static inline const char *device_called(const device *d)
{
    return d->index == DEVICE_NAMED ? d->name : d->owner->plugin->name;
}

/* Records the status of a call through the device's table: a lost device is not used again. */
static inline collet_status device_note_status(device *d, collet_status status)
{
    if (status == COLLET_DEVICE_LOST)
        atomic_store(&d->state, DEVICE_LOST);
    return status;
}

/* Enclose each call of a slot, row or extension of an open device: they allow one call at a time
 * where the device needs that. No lock is taken in between. */
static inline void device_enter(device *d)
{
    if (d->one_call)
        pthread_mutex_lock(&d->calls);
}
/* `status` is the status of the call; it is recorded and returned. */
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

#endif
