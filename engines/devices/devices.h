/* SPDX-License-Identifier: Apache-2.0 */
/* devices.h - several devices compute the parts of one job. The caller gets the results in order. */
#pragma once

#include <collet/devices.h>

/* The first devices_next starts a thread for each device; the threads also work between calls of
 * devices_next. Only one thread of the caller at a time may use a job. */
typedef struct devices_job devices_job;

typedef struct devices_work {
    int64_t n_devices;
    collet_context *const *contexts; /* one for each device; only their names are copied */
    int64_t count;                   /* items; INT64_MAX: until devices_end */
    int64_t most;                    /* items that a device takes at a time */
    int whole;      /* 1: parts end at multiples of `most`; 0: a slow device takes fewer items */
    int64_t depth;  /* number of calls of `read` whose results a device keeps */
    int64_t window; /* maximum number of items that are taken and not delivered; 0: no limit */
    void *user;
    /* `compute` and `read` are called on the device's thread. compute: computes items from `first` on,
     * at most *count, and sets *count to their number, at least 1, or to 0 if devices_end was called.
     * read: stores the computed items as the device's results; it is called when there is room. The
     * device keeps the results of `depth` calls of read. */
    collet_status (*compute)(void *user, int64_t device, int64_t first, int64_t *count,
                             collet_error *err);
    collet_status (*read)(void *user, int64_t device, int64_t first, int64_t count,
                          collet_error *err);
    /* Called on the caller's thread after a devices_tick; `next` is the number of items delivered. A return value
     * other than 0 cancels the job. May be NULL. */
    int (*report)(void *user, int64_t ticks, int64_t next);
} devices_work;

/* The contexts of a job's devices. */
typedef struct devices_list {
    int64_t count;
    collet_context **contexts;
    int own; /* 1: devices_close destroys them */
} devices_list;

/* Opens the devices of a job in the runtime. Errors as in <collet/devices.h>; the text begins with "devices: ". */
collet_status devices_open(devices_list *list, const collet_devices *given, collet_runtime *runtime,
                           collet_error *err);
void devices_close(devices_list *list);
/* Copies `given` into one block, which the caller frees with free(); *out is NULL if `given` is NULL.
 * INVALID in the same cases as devices_open. */
collet_status devices_copy(collet_devices **out, const collet_devices *given, collet_error *err);
/* Writes the names of the backends that compute on the host, in the order in which `auto` prefers them:
 * "cpu_openmp,cpu_scalar"; "" if there is none. */
void devices_of_host(collet_runtime *runtime, char *list, size_t size);

/* Starts nothing. NO_MEMORY. */
collet_status devices_create(devices_job **out, const devices_work *work, collet_error *err);
/* Ends the threads. NULL is allowed. */
void devices_destroy(devices_job *job);

/* Waits for the next results in order: the items *first to *first + *count - 1, at most `most`.
 * Device *device keeps them until the next call. After the last item *count is 0. An error that no
 * device caused ends the job. If all devices fail, the first error ends the job. Every later call
 * returns the same error. CANCELLED if `report` cancelled the job; the next call continues it. */
collet_status devices_next(devices_job *job, int64_t most, int64_t *device, int64_t *first,
                           int64_t *count, collet_error *err);
/* Ends the threads. The next devices_next starts them again, from the first item that was not delivered. */
void devices_stop(devices_job *job);

/* Sets *share to the work of device `index`; NOT_FOUND if there is no such device. The share's strings are valid
 * until devices_destroy. */
collet_status devices_share_at(devices_job *job, collet_device_share *share, size_t index);

/* Copies of shares, which outlive the job. */
typedef struct devices_shares {
    int64_t count;
    struct devices_kept *list;
} devices_shares;

/* Adds a copy of a share. Returns 0 if out of memory. */
int devices_shares_add(devices_shares *shares, const collet_device_share *share);
/* NOT_FOUND beyond the last share. The strings are valid until a share is added or all shares are cleared. */
collet_status devices_shares_at(const devices_shares *shares, collet_device_share *share,
                                size_t index);
void devices_shares_clear(devices_shares *shares);

/* ---- On a device's thread -------------------------------------------------------------------- */

/* Counts one step of progress, for `report`. Returns 1 if the job is stopped: `compute` must then return
 * CANCELLED. */
int devices_tick(devices_job *job);
/* Lets the caller's thread call `function`, within devices_next, and returns the status of that call.
 * If the job is stopped, returns CANCELLED without a call. After `function` has failed, any error of
 * `compute` on this device ends the job. */
collet_status devices_ask(devices_job *job, int64_t device,
                          collet_status (*function)(void *argument, collet_error *err),
                          void *argument, collet_error *err);
/* Limits the job to `count` items. May be called on any thread. */
void devices_end(devices_job *job, int64_t count);
