/* SPDX-License-Identifier: Apache-2.0 */
/* Measures one op on each backend in turn: creates arrays, makes calls, and computes statistics of times and memory. */
#pragma once

#include "bench/bandwidth/bandwidth.h"
#include "cases.h"
#include "bench/base/busy.h"
#include "bench/base/session.h"
#include "common/stats.h"

/* The arrays of a layout; absent operands are NULL. */
typedef struct bench_arrays {
    collet_array *arrays[COLLET_MAX_OPERANDS]; /* outputs first */
} bench_arrays;

/* Creates the arrays. The context has the text of an error. Call bench_arrays_free after a failure too. */
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

/* Prepares calls on the backend `choice`, without fallback. All arguments must outlive *calls. If the status is not
 * COLLET_OK, `error` is set. */
collet_status bench_calls_open(bench_calls *calls, const bench_session *session,
                               const bench_layout *layout, const bench_arrays *arrays,
                               const char *choice, char error[COLLET_ERROR_TEXT]);
/* A tool_sampler_body. */
collet_status bench_calls_run(void *calls, int64_t count);

/* Statistics of a row that was measured again while other processes were busy. `share` is the part of a
 * processor that a fair scheduler gives to each of the row's `threads`: processors / (threads + processes), at
 * most 1. */
typedef struct bench_busy_stats {
    int32_t processes; /* 0: not measured */
    tool_stats stats;
    double threads; /* processors in use on average when nothing else ran */
    double share;
    bench_usage usage;
} bench_busy_stats;

typedef struct bench_memory {
    int64_t arrays, device, resident; /* bytes of arrays, on the device, and of this process */
} bench_memory;

#define BENCH_ROUNDS 10

typedef struct bench_round {
    double median, jitter; /* seconds per call; jitter: the mean difference of consecutive samples.
                              NaN if no sample was kept, because earlier rounds had too many */
    bench_memory grown;    /* growth of memory up to the end of this round */
    int64_t peak_device;   /* peak of the bytes allocated for arrays on the device */
    int64_t peak_resident; /* peak of the bytes of this process, with libraries and other backends */
} bench_round;

typedef struct bench_result {
    const char *choice; /* the backend */
    char dtype[2 * COLLET_MAX_OPERANDS];
    collet_status status;
    char error[COLLET_ERROR_TEXT]; /* the error's text if `status` is not OK */
    tool_stats stats;
    tool_stats device; /* by the device's own clock; no samples: no such clock */
    bench_usage usage; /* while sampling */
    bench_busy_stats busy;
    double bytes, flops;
    bandwidth_figure floor; /* bandwidth, measured alternating with the op; strategy NULL: none */
    bench_round rounds[BENCH_ROUNDS];
    bench_memory grown;
    double ratio; /* speed relative to the first row with the same dtype; 0: unknown */
} bench_result;

/* The measured bandwidth, shared by the rows of one run. It is opened for the first row that is bound by memory.
 * Initialise with zeros. */
typedef struct bench_floor {
    bench_bandwidth bandwidth; /* source NULL: not opened */
    int32_t chosen[STREAM_KINDS];
} bench_floor;

/* Measures the layout's call on each choice of the session, without fallback, for `seconds` each. Choices take turns in
 * rounds, so that all see the same load of the machine. If memory bandwidth limits the call, it is measured in turns
 * too, but not for GPUs, for operands that may fit into a cache, or for calls bound by computation. Sets a
 * result with its own status for each choice, unless NO_MEMORY is returned. */
collet_status bench_measure(bench_session *session, const bench_layout *layout,
                            const bench_arrays *arrays, bench_floor *floor, bench_result *results);

/* Returns the expected time of a call that gets busy.share of the processors: the median without other processes,
 * divided by the share. */
double bench_fair_seconds(const bench_result *r);

/* Return the share of the memory bandwidth that the call reaches, from medians and from the fastest samples.
 * floor.strategy must not be NULL. */
double bench_share_of_median(const bench_result *r);
double bench_share_of_fastest(const bench_result *r);
