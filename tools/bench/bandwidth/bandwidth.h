/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's memory bandwidth: the floor for kernels bound by memory. */
#ifndef TOOLS_BENCH_BANDWIDTH_BANDWIDTH_H
#define TOOLS_BENCH_BANDWIDTH_BANDWIDTH_H

#include "bench/base/machine.h"
#include "bench/base/session.h"
#include "common/stats.h"
#include "stream.h"
#include "team.h"

/* A strategy of moving memory and its measurement. */
typedef struct bandwidth_figure {
    const stream_strategy *strategy; /* NULL: not measured */
    int32_t threads;
    double bytes; /* a pass; a copy counts what it reads and what it writes */
    tool_stats stats;
} bandwidth_figure;

typedef struct bench_bandwidth {
    const stream_table *table;
    int32_t threads;
    size_t bytes; /* of each buffer */
    unsigned char *source, *target;
    bandwidth_figure best[STREAM_KINDS]; /* by its fastest pass */
    double *samples;
    int64_t sample_count;
} bench_bandwidth;

/* "read", "write", "copy". */
const char *bandwidth_kind_name(stream_kind kind);
/* Bytes a second of a figure's fastest and of its median pass; 0 when it was not measured. */
double bandwidth_fastest(const bandwidth_figure *figure);
double bandwidth_median(const bandwidth_figure *figure);

/* Buffers of `bytes` each, 0: large against the last cache. NO_MEMORY, after which it is closed. */
collet_status bench_bandwidth_open(bench_bandwidth *b, const bench_machine *machine, size_t bytes,
                                   collet_error *err);
void bench_bandwidth_close(bench_bandwidth *b);

/* Tries every strategy for `budget` seconds together and keeps the fastest in b->best[kind]. `seen`
 * is called with each figure, may be NULL. */
void bench_bandwidth_choose(bench_bandwidth *b, stream_kind kind, double budget,
                            void (*seen)(void *user, const bandwidth_figure *figure), void *user);

/* Measures the chosen strategy again, in turn with something else: begin, more (repeatedly, each
 * for `budget` seconds after a pass that warms up), end: b->best[kind] is the result of these
 * passes. */
void bench_bandwidth_begin(bench_bandwidth *b);
void bench_bandwidth_more(bench_bandwidth *b, stream_kind kind, double budget);
void bench_bandwidth_end(bench_bandwidth *b, stream_kind kind);

#endif
