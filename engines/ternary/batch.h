/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - runs a network on many vectors, a part at a time, on one device or several. */
#pragma once

#include "ternary/network.h"

typedef struct ternary_batch {
    ternary_call *call;
    collet_ternary_network *network; /* gets the devices' shares of the work */
    const collet_devices *devices;   /* the program's; NULL: the call's context */
    int64_t vectors;
    collet_dtype dtype; /* dtype of x */
    void *user;
    /* Copies vectors of x. Called on any thread, and on several threads at the same time. */
    void (*read)(void *user, int64_t first, int64_t count, void *to);
    /* Takes the results, in order, on the caller's thread. */
    collet_status (*take)(void *user, int64_t first, int64_t count, const float *y);
    double seconds; /* result: computing time of the slowest device */
} ternary_batch;

/* Runs the network on all vectors. Reports them to the call's monitor. */
collet_status ternary_batch_run(ternary_batch *batch);
/* Fills the plan, and measures the devices. */
collet_status ternary_batch_plan(ternary_batch *batch, collet_ternary_run_plan *plan);
