/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - several devices do the parts of one job; the caller gets the results in order. */
#ifndef ENGINES_DEVICES_DEVICES_H
#define ENGINES_DEVICES_DEVICES_H

#include <collet/devices.h>

/* Has a thread for each device, while devices_next is called and between its calls. One thread at a
 * time may use it. */
typedef struct devices_job devices_job;

typedef struct devices_work {
    int64_t n_devices;
    collet_context *const *contexts; /* of the devices, for their names; copied */
    int64_t count;                   /* items; INT64_MAX: until devices_end */
    int64_t most;                    /* items that a device takes at a time */
    int whole;      /* 1: always so many, up to a multiple of `most`; 0: fewer where it is slow */
    int64_t depth;  /* results of so many calls of read that a device keeps */
    int64_t window; /* most items that are taken and not delivered; 0: no limit */
    void *user;
    /*
     * Both are called on the device's thread. compute: computes items from `first` on, at most
     * *count, and sets *count to their number, at least 1; 0 if devices_end was called. read: makes
     * these items the device's results; it is called when there is room for them. The device keeps
     * the results of `depth` calls of read.
     */
    collet_status (*compute)(void *user, int64_t device, int64_t first, int64_t *count,
                             collet_error *err);
    collet_status (*read)(void *user, int64_t device, int64_t first, int64_t count,
                          collet_error *err);
    /* Called on the caller's thread after a devices_tick; `next` items were delivered. Any value
     * but 0 cancels. NULL: nothing */
    int (*report)(void *user, int64_t ticks, int64_t next);
} devices_work;

/* The contexts of a job's devices. */
typedef struct devices_list {
    int64_t count;
    collet_context **contexts;
    int own; /* 1: devices_close destroys them */
} devices_list;

/* Opens the devices of a job in the runtime. The errors of collet_devices; the text begins with "devices: ". */
collet_status devices_open(devices_list *list, const collet_devices *given, collet_runtime *runtime,
                           collet_error *err);
void devices_close(devices_list *list);
/* A copy in one block, for free(); NULL of NULL. INVALID as devices_open. */
collet_status devices_copy(collet_devices **out, const collet_devices *given, collet_error *err);
/* The backends that compute on the host, in the order of auto: "cpu_openmp,cpu_scalar"; "": none. */
void devices_of_host(collet_runtime *runtime, char *list, size_t size);

/* Starts nothing. NO_MEMORY. */
collet_status devices_create(devices_job **out, const devices_work *work, collet_error *err);
/* Ends the threads. NULL is allowed. */
void devices_destroy(devices_job *job);

/*
 * Waits for the next results in order: the items *first to *first + *count - 1, at most `most`.
 * Device *device keeps them until the next call. After the last item *count is 0. An error that no
 * device caused ends the job. If all devices fail, the first error ends it. Every later call
 * returns the same error. CANCELLED where `report` has stopped it; a further call goes on.
 */
collet_status devices_next(devices_job *job, int64_t most, int64_t *device, int64_t *first,
                           int64_t *count, collet_error *err);
/* Ends the threads; what was not delivered is computed again when the job goes on. */
void devices_stop(devices_job *job);

/* NOT_FOUND beyond the devices. The strings are valid until devices_destroy. */
collet_status devices_share_at(devices_job *job, collet_device_share *share, size_t index);

/* Copies of shares, which outlive the job. */
typedef struct devices_shares {
    int64_t count;
    struct devices_kept *list;
} devices_shares;

/* 0: out of memory. */
int devices_shares_add(devices_shares *shares, const collet_device_share *share);
/* NOT_FOUND beyond the last. The strings are valid until a share is added or all are cleared. */
collet_status devices_shares_at(const devices_shares *shares, collet_device_share *share,
                                size_t index);
void devices_shares_clear(devices_shares *shares);

/* ---- On a device's thread -------------------------------------------------------------------- */

/* Reports progress; 1: the job is stopped, and compute shall return CANCELLED. */
int devices_tick(devices_job *job);
/* Lets the caller's thread call `function`, within devices_next, and returns the status of that call.
 * CANCELLED without a call if the job is stopped. If `function` fails, an error that compute then
 * returns ends the job. */
collet_status devices_ask(devices_job *job, int64_t device,
                          collet_status (*function)(void *argument, collet_error *err),
                          void *argument, collet_error *err);
/* The job has `count` items, no more. On any thread. */
void devices_end(devices_job *job, int64_t count);

#endif
