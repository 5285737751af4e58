/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling: warm up, choose the number of calls a sample, then sample until the time is over. */
#ifndef TOOLS_BENCH_BASE_SAMPLER_H
#define TOOLS_BENCH_BASE_SAMPLER_H

#include "common/stats.h"

#include <collet/collet.h>

/* Makes `calls` calls and waits for them. */
typedef collet_status (*tool_sampler_body)(void *user, int64_t calls);

typedef struct tool_sampler {
    tool_sampler_body body;
    void *user;
    int64_t calls; /* a sample; chosen by tool_sampler_warm, 0 before */
    int64_t count, capacity;
    double *seconds; /* of each sample */
} tool_sampler;

/* Allocates TOOL_SAMPLES_MAX samples. NO_MEMORY. */
collet_status tool_sampler_create(tool_sampler *s, tool_sampler_body body, void *user);
void tool_sampler_clear(tool_sampler *s);

/* Warms up for about a tenth of `budget` seconds, two calls at least, and chooses `calls` so that a
 * sample is long against the clock and all samples of the budget fit. */
collet_status tool_sampler_warm(tool_sampler *s, double budget);

/* One sample; not kept when `capacity` is reached. Allocates nothing. */
collet_status tool_sampler_take(tool_sampler *s);

/* One of several turns: warms up, by tool_sampler_warm if it was not called before, else with one
 * call, then samples for `budget` seconds, once at least. */
collet_status tool_sampler_turn(tool_sampler *s, double budget);

/* count > 0; orders the samples. */
void tool_sampler_stats(tool_sampler *s, tool_stats *out);

#endif
