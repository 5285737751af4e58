/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the device of cpu_openmp: all CPU threads that the host grants. Private to the plugin.
 *
 * A device is constant once it is open, except for its plans, which have their own lock: any number
 * of threads may run kernels on it.
 */
#ifndef COLLET_OPENMP_DEVICE_H
#define COLLET_OPENMP_DEVICE_H

#include <collet/plugin.h>

#include "shared/host/util/plan_cache.h"
#include "isa.h"
#include "limit.h"

struct collet_device {
    const collet_host *host;
    limit_host limit;
    const isa_level *level;
    const struct narrow_kernels *narrow;    /* the best for `level`, as processor_narrow */
    const struct ternary_products *ternary; /* as processor_ternary */
    int32_t threads;                        /* at most, for one call; limit.h */
    uint32_t onednn;                        /* ONEDNN_TYPE_*: products that oneDNN computes */
    struct onednn_plans *plans;             /* for some of them; NULL: there was no memory */
    plan_cache *ffts;                       /* plans of Fourier transforms */
    int64_t cache_bytes; /* of the largest cache; larger outputs get non-temporal stores */
};

/* Declares the kernel `name`; in front of a body, defines it. Kernels are synchronous: none uses
 * the queue. */
#define KERNEL(name)                                                                               \
    KERNEL_HEAD_(name);                                                                            \
    KERNEL_HEAD_(name)

/* The same for a row's `accepts`. */
#define ACCEPTS(name)                                                                              \
    ACCEPTS_HEAD_(name);                                                                           \
    ACCEPTS_HEAD_(name)

#define KERNEL_HEAD_(name)                                                                         \
    collet_status openmp_##name(collet_device *device,                                             \
                                __attribute__((unused)) collet_queue *queue,                       \
                                const collet_kernel_call *call)
#define ACCEPTS_HEAD_(name)                                                                        \
    collet_status openmp_##name##_accepts(collet_device *device, const collet_kernel_call *call,   \
                                          uint64_t *workspace_bytes)

#endif
