/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.h - the device of cpu_openmp: all CPU threads that the host grants. Private to the plugin.
 *
 * A device is constant once it is open, except for its plans, which have their own lock. So any number of threads
 * may run kernels on a device.
 */
#pragma once

#include "shared/host/util/device.h"
#include "isa.h"
#include "limit.h"

struct collet_device {
    host_device base;
    limit_host limit;
    const isa_level *level;
    const struct narrow_kernels *narrow;    /* levels_narrow(level) */
    const struct ternary_products *ternary; /* levels_ternary(level) */
    int32_t threads;                        /* the most threads of one call; see limit.h */
    struct ways *ways;                      /* measured rates; owned by the device */
    struct onednn_plans *plans;             /* plans for bf16 and int8; NULL: out of memory */
    int64_t cache_bytes; /* size of the largest cache; larger outputs get non-temporal stores */
};
