/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collet/devices.h - several devices for one job, for collet/scatter.h, collet/trajectory.h and collet/ternary.h.
 *
 *     const collet_devices devices = {.struct_size = sizeof devices, .choices = "cuda:0,cuda:1"};
 *     options.devices = &devices;
 *
 * A free device takes the next part of the job. The size of a part depends on the device's memory and,
 * after every device has done a part, on its measured speed, so that all devices end at about the same
 * time. Results come in order. A device that fails gets no more parts, and the other devices repeat the
 * items that it has not delivered. If all devices fail, the job fails with the first error.
 */
#ifndef COLLET_DEVICES_H
#define COLLET_DEVICES_H

#include <collet/collet.h>

/* The devices of a job, given by `choices` or by `contexts`. Only they compute; a job whose option `devices` is NULL
 * computes with its own context. INVALID: no device, `choices` and `contexts` together, a device or context twice, a
 * context of another runtime; the errors of collet_set_backend. */
typedef struct collet_devices {
    uint32_t struct_size; /* set by the caller */
    uint32_t reserved;    /* 0 */
    /* Devices as in collet_set_backend, separated by ','; the job opens a context for each. NULL: `contexts` is used. */
    const char *choices;
    /* The job's own context may be among them; nothing else may use them during the job. */
    int64_t n_contexts;
    collet_context *const *contexts;
} collet_devices;

/* The share of one device: collet_scatter_share_at, collet_trajectory_share_at and collet_ternary_network_share_at
 * return it. */
typedef struct collet_device_share {
    uint32_t struct_size; /* set by the caller */
    uint32_t reserved;
    const char *device; /* the choice of its context: "opencl:0" */
    int64_t done;       /* energies, frames or vectors that it computed */
    double seconds;     /* time that the device computed */
    const char *error;  /* why it stopped; NULL: it did not fail */
} collet_device_share;

#endif
