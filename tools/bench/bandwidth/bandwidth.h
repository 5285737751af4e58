/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's memory bandwidth, which limits the speed of memory-bound kernels. */
#pragma once

#include "bench/base/machine.h"
#include "bench/base/session.h"
#include "common/stats.h"
#include "stream.h"
#include "team.h"

/* A strategy of reading, writing or copying memory, and its measurement. */
typedef struct bandwidth_figure {
    const stream_strategy *strategy; /* NULL: not measured */
    int32_t threads;
    double bytes; /* bytes moved in a pass; a copy counts the bytes read and the bytes written */
    tool_stats stats;
} bandwidth_figure;

typedef struct bench_bandwidth {
    const stream_table *table;
    int32_t threads;
    size_t bytes; /* of each buffer */
    unsigned char *source, *target;
    bandwidth_figure best[STREAM_KINDS]; /* the strategy with the fastest pass */
    double *samples;
    int64_t sample_count;
} bench_bandwidth;

/* Returns "read", "write" or "copy". */
const char *bandwidth_kind_name(stream_kind kind);
/* Bytes per second of a figure's fastest and of its median pass; 0 if it was not measured. */
double bandwidth_fastest(const bandwidth_figure *figure);
double bandwidth_median(const bandwidth_figure *figure);

/* Allocates buffers of `bytes` each; 0: much larger than the last-level cache. NO_MEMORY; then *b is closed. */
collet_status bench_bandwidth_open(bench_bandwidth *b, const bench_machine *machine, size_t bytes,
                                   collet_error *err);
void bench_bandwidth_close(bench_bandwidth *b);

/* Tries all strategies, for `budget` seconds in total, and keeps the fastest in b->best[kind]. Calls `seen` with each
 * figure, unless `seen` is NULL. */
void bench_bandwidth_choose(bench_bandwidth *b, stream_kind kind, double budget,
                            void (*seen)(void *user, const bandwidth_figure *figure), void *user);

/* Measure the chosen strategy again, alternating with other measurements. Call `begin` once, then `more` repeatedly,
 * then `end`. Each call of `more` makes a warm-up pass and measures for `budget` seconds. `end` sets b->best[kind] to
 * the result of all measured passes. */
void bench_bandwidth_begin(bench_bandwidth *b);
void bench_bandwidth_more(bench_bandwidth *b, stream_kind kind, double budget);
void bench_bandwidth_end(bench_bandwidth *b, stream_kind kind);
