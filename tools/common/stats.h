/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of the samples of one measurement. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <cjson/cJSON.h>
#include <stdint.h>
#include <time.h>

#define BENCH_SAMPLES_MAX 65536

/* Seconds of the monotonic clock. */
static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds a call. */
typedef struct bench_stats {
    int64_t samples;
    int64_t calls_per_sample;
    double mean, median, std, p95, p99, min, max;
} bench_stats;

/* Statistics of `seconds`, count > 0 samples of `calls` calls each; divides them by `calls` and sorts
 * them. */
void bench_stats_of(double *seconds, int64_t count, int64_t calls, bench_stats *out);

/* {"mean", ..., "max"} in seconds; NULL when out of memory. */
cJSON *bench_stats_json(const bench_stats *stats);

#endif
