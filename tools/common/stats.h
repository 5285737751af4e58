/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of the samples of one measurement. */
#pragma once

#include <cjson/cJSON.h>
#include <stdint.h>
#include <time.h>

#define TOOL_SAMPLES_MAX 65536

/* Seconds of the monotonic clock. */
static inline double tool_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Statistics of the seconds per call. */
typedef struct tool_stats {
    int64_t samples;
    int64_t calls_per_sample;
    double mean, median, std, p95, p99, min, max;
} tool_stats;

/* Computes the statistics of `seconds`: count > 0 samples of `calls` calls each. Divides the samples
 * by `calls` and sorts them. */
void tool_stats_of(double *seconds, int64_t count, int64_t calls, tool_stats *out);

/* Returns the statistics as JSON, {"mean", ..., "max"} in seconds; NULL if out of memory. */
cJSON *tool_stats_json(const tool_stats *stats);
