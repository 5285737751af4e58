/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the device of cpu_scalar and the declarations of its kernels. Private to the plugin.
 *
 * A kernel is a collet_kernel_row.run for one op or for several that differ in a function. It
 * implements every signature of its ops in kernels.def and reads the element types from the
 * operands. docs/KERNELS.md defines the results.
 */
#ifndef CPU_SCALAR_DEVICE_H
#define CPU_SCALAR_DEVICE_H

#include <collet/plugin.h>

#include "shared/host/util/plan_cache.h"

struct collet_device {
    const collet_host *host;
    plan_cache *plans;
};

/* Declares the kernel `name`; before a body, defines it. Kernels are synchronous: none uses the
 * queue. */
#define KERNEL(name)                                                                               \
    KERNEL_HEAD_(name);                                                                            \
    KERNEL_HEAD_(name)

/* The same for a row's `accepts`. */
#define ACCEPTS(name)                                                                              \
    ACCEPTS_HEAD_(name);                                                                           \
    ACCEPTS_HEAD_(name)

#define KERNEL_HEAD_(name)                                                                         \
    collet_status scalar_##name(__attribute__((unused)) collet_device *device,                     \
                                __attribute__((unused)) collet_queue *queue,                       \
                                const collet_kernel_call *call)
#define ACCEPTS_HEAD_(name)                                                                        \
    collet_status scalar_##name##_accepts(__attribute__((unused)) collet_device *device,           \
                                          const collet_kernel_call *call,                          \
                                          uint64_t *workspace_bytes)

#endif
