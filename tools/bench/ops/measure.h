/* SPDX-License-Identifier: Apache-2.0 */
/* One op on each backend in turn: arrays, calls, statistics, memory before and after. */
#ifndef TOOLS_BENCH_OPS_MEASURE_H
#define TOOLS_BENCH_OPS_MEASURE_H

#include "bench/bandwidth/bandwidth.h"
#include "cases.h"
#include "bench/base/busy.h"
#include "bench/base/session.h"
#include "common/stats.h"

/* The arrays of a layout; absent operands are NULL. */
typedef struct bench_arrays {
    collet_array *arrays[COLLET_MAX_OPERANDS]; /* outputs first */
} bench_arrays;

/* The context has the error's text. Call bench_arrays_free after a failure too. */
collet_status bench_arrays_create(bench_arrays *a, collet_context *context,
                                  const bench_layout *layout);
void bench_arrays_free(bench_arrays *a);

/* Repeated calls of a layout. */
typedef struct bench_calls {
    collet_context *context;
    uint32_t op;
    collet_array *const *outs;
    const collet_array *const *ins;
    const void *params;
} bench_calls;

/* Chooses the backend, without fallback. The other arguments must outlive the calls. `error` is set
 * with a status other than COLLET_OK. */
collet_status bench_calls_open(bench_calls *calls, const bench_session *session,
                               const bench_layout *layout, const bench_arrays *arrays,
                               const char *choice, char error[COLLET_ERROR_TEXT]);
/* A tool_sampler_body. */
collet_status bench_calls_run(void *calls, int64_t count);

/*
 * A row measured again while other processes were busy. `share` is the part of each of its
 * `threads` processors that a scheduler without favourites leaves it: processors / (threads +
 * processes), at most 1.
 */
typedef struct bench_busy_stats {
    int32_t processes; /* 0: not measured */
    tool_stats stats;
    double threads; /* processors in use on average when nothing else ran */
    double share;
    bench_usage usage;
} bench_busy_stats;

typedef struct bench_memory {
    int64_t arrays, device, resident; /* bytes: of arrays, on the device, of this process */
} bench_memory;

#define BENCH_ROUNDS 10

typedef struct bench_round {
    double median, jitter; /* seconds a call; jitter: the mean difference of consecutive samples.
                              NaN where no sample was kept, because there were too many before */
    bench_memory grown;    /* in this round and those before */
    int64_t peak_device;   /* bytes that arrays had allocated on the device */
    int64_t peak_resident; /* bytes of this process, libraries and other backends included */
} bench_round;

typedef struct bench_result {
    const char *choice; /* of backend */
    char dtype[2 * COLLET_MAX_OPERANDS];
    collet_status status;
    char error[COLLET_ERROR_TEXT]; /* of a status other than OK */
    tool_stats stats;
    tool_stats device; /* by the device's own clock; no samples: it has none */
    bench_usage usage; /* while sampling */
    bench_busy_stats busy;
    double bytes, flops;
    bandwidth_figure floor; /* measured in turn with the op; strategy NULL: not comparable */
    bench_round rounds[BENCH_ROUNDS];
    bench_memory grown;
    double ratio; /* times as fast as the first row of the same dtype; 0: unknown */
} bench_result;

/* The bandwidth of the rows of one run, opened with the first row that it bounds; zeros at first.
 */
typedef struct bench_floor {
    bench_bandwidth bandwidth; /* source NULL: not opened */
    int32_t chosen[STREAM_KINDS];
} bench_floor;

/*
 * Measures the layout's call on each choice of the session, without fallback, for `seconds` each, in
 * rounds in which each takes its turn, so that all see the same load of the machine, and in turn with
 * the memory's bandwidth where that bounds the call: not GPUs, operands that may fit in a cache, or
 * calls bound by operations. There is a result for each choice, which has the status too, unless
 * the status returned is NO_MEMORY.
 */
collet_status bench_measure(bench_session *session, const bench_layout *layout,
                            const bench_arrays *arrays, bench_floor *floor, bench_result *results);

/* The time of a call that the share allows, from the median without other processes. */
double bench_fair_seconds(const bench_result *r);

/* Share of the bandwidth, median against median and fastest against fastest; floor.strategy set. */
double bench_share_of_median(const bench_result *r);
double bench_share_of_fastest(const bench_result *r);

#endif
