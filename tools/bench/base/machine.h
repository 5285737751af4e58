/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the machine on which a measurement runs. */
#pragma once

#include <cjson/cJSON.h>
#include <stdint.h>

typedef struct bench_machine {
    char host[256], cpu[256], kernel[256], compiler[64];
    int32_t allowed_cpus;      /* of the affinity mask */
    int32_t threads;           /* number of allowed CPUs, or the user's limit if that is lower */
    uint64_t last_cache_bytes; /* size of the largest cache of CPU 0; 0 = unknown */
    uint64_t memory_bytes, available_bytes;
} bench_machine;

/* `limit` threads at most, 0: no limit. Unknown values are "unknown" or 0. */
void bench_machine_describe(bench_machine *machine, int32_t limit);

/* NULL when out of memory. */
cJSON *bench_machine_json(const bench_machine *machine);
