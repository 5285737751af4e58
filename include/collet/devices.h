/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/devices.h - what each of several devices did of one job, for collet/scatter.h,
 * collet/trajectory.h and collet/ternary.h.
 *
 * A device that is free takes the next part of the job, as much as its memory and, once all have
 * done a part, its measured speed allow: all end at about the same time. Results come in order. A
 * device that fails gets no more parts, and the others do again what it has not delivered. When all
 * have failed, the job fails with the first error.
 */
#ifndef COLLET_DEVICES_H
#define COLLET_DEVICES_H

#include <collet/collet.h>

/* The share of one device. */
typedef struct collet_device_share {
    uint32_t struct_size; /* set by the caller */
    uint32_t reserved;
    const char *device; /* the choice of its context: "opencl:0" */
    int64_t done;       /* energies, frames or vectors that it computed */
    double seconds;     /* time that the device computed */
    const char *error;  /* why it stopped; NULL: it did not fail */
} collet_device_share;

/* Further devices for a call. */
typedef struct collet_devices {
    uint32_t struct_size;
    uint32_t reserved;
    int64_t n_contexts; /* all different, of the runtime of the call's context, without that context */
    collet_context *const *contexts;
    /* Called at the end, on the caller's thread, for each device that took part: first for the device of
     * the call's context. `share` is valid during the call. NULL: not called */
    void (*share)(void *user, const collet_device_share *share);
    void *user;
} collet_devices;

#endif
