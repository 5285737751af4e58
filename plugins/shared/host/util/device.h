/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the common part of the devices of the CPU backends. Each backend has one device, which works
 * synchronously in the memory of the host. Its `struct collet_device` begins with a host_device.
 */
#pragma once

#include <collet/plugin.h>

#include "plan_cache.h"

/* Processes items begin..end-1. */
typedef void (*host_body)(void *argument, int32_t thread, int64_t begin, int64_t end);

typedef struct host_device {
    const collet_host *host;
    plan_cache *plans; /* plans of Fourier transforms */
    /* Calls `body` for the items 0..count-1, in pieces of at least `grain` (>= 1) items, on several threads,
     * in any order. NULL: the backend has one thread. */
    void (*share)(collet_device *device, int64_t count, int64_t grain, host_body body,
                  void *argument);
    int32_t threads; /* the most threads that `share` uses */
    /* Frees memory (other than `plans`) that the backend keeps for later calls; NULL: there is none. */
    void (*trim)(collet_device *device);
} host_device;

/* Implements the slot device_open of `plugin`: allocates a device of `bytes` bytes, all zero except
 * for the host and the plans. */
collet_status host_device_open(const collet_plugin *plugin, collet_device **device, uint64_t bytes,
                               collet_device_properties *properties, const collet_host *host,
                               uint32_t index, collet_error *err);

/* Like host_device.share, but for any device. */
static inline void host_share(collet_device *device, int64_t count, int64_t grain, host_body body,
                              void *argument)
{
    const host_device *host = (const host_device *)device;
    if (host->share)
        host->share(device, count, grain, body, argument);
    else if (count > 0)
        body(argument, 0, 0, count);
}

/* Slots. host_extension has collet.trim/1. */
void host_device_close(collet_device *device);
const void *host_extension(collet_device *device, const char *name);

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Declares the kernel `name`; before a function body, the macro defines it. The kernel is a function
 * collet_kernel_row.run for one op or for several similar ops. kernels.txt lists the ops that it runs. It
 * implements every signature of its ops and reads the dtypes from the operands. Kernels are synchronous; few use
 * the device, and no kernel uses the queue. docs/KERNELS.md defines the results.
 */
#define KERNEL(name)                                                                               \
    KERNEL_HEAD_(name);                                                                            \
    KERNEL_HEAD_(name)

/* The same for collet_kernel_row.accepts. */
#define ACCEPTS(name)                                                                              \
    ACCEPTS_HEAD_(name);                                                                           \
    ACCEPTS_HEAD_(name)

#define KERNEL_HEAD_(name)                                                                         \
    collet_status host_##name(__attribute__((unused)) collet_device *device,                       \
                              __attribute__((unused)) collet_queue *queue,                         \
                              const collet_kernel_call *call)
#define ACCEPTS_HEAD_(name)                                                                        \
    collet_status host_##name##_accepts(__attribute__((unused)) collet_device *device,             \
                                        const collet_kernel_call *call, uint64_t *workspace_bytes)
