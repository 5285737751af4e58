/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the device of cpu_openmp: all CPU threads that the host grants. Private to the plugin.
 *
 * A device is constant once it is open, except for its plans, which have their own lock: any number
 * of threads may run kernels on it.
 */
#ifndef PLUGINS_CPU_OPENMP_RUNTIME_DEVICE_H
#define PLUGINS_CPU_OPENMP_RUNTIME_DEVICE_H

#include "shared/host/util/device.h"
#include "isa.h"
#include "limit.h"

struct collet_device {
    host_device base;
    limit_host limit;
    const isa_level *level;
    const struct narrow_kernels *narrow;    /* the best for `level`, as levels_narrow */
    const struct ternary_products *ternary; /* as levels_ternary */
    int32_t threads;                        /* at most, for one call; limit.h */
    struct ways *ways;                      /* what was measured; the device's own */
    struct onednn_plans *plans;             /* of bf16 and int8; NULL: there was no memory */
    int64_t cache_bytes; /* of the largest cache; larger outputs get non-temporal stores */
};

#endif
