/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling: warm up, choose the number of calls in a sample, then take samples until the time is over. */
#pragma once

#include "common/stats.h"

#include <collet/collet.h>

/* Makes `calls` calls and waits for them. */
typedef collet_status (*tool_sampler_body)(void *user, int64_t calls);

typedef struct tool_sampler {
    tool_sampler_body body;
    void *user;
    int64_t calls; /* number of calls in a sample; 0: tool_sampler_warm has not chosen it yet */
    int64_t count, capacity;
    double *seconds; /* of each sample */
} tool_sampler;

/* Allocates TOOL_SAMPLES_MAX samples. NO_MEMORY. */
collet_status tool_sampler_create(tool_sampler *s, tool_sampler_body body, void *user);
void tool_sampler_clear(tool_sampler *s);

/* Warms up for about a tenth of `budget` seconds, with at least two calls. Chooses `calls` so that a sample takes
 * much longer than reading the clock, and so that all samples taken within `budget` fit into `capacity`. */
collet_status tool_sampler_warm(tool_sampler *s, double budget);

/* Takes one sample; does not store it if `capacity` is reached. Allocates nothing. */
collet_status tool_sampler_take(tool_sampler *s);

/* Takes one of several alternating turns: warms up (tool_sampler_warm in the first turn, later one call), then takes
 * samples for `budget` seconds, at least one. */
collet_status tool_sampler_turn(tool_sampler *s, double budget);

/* Computes statistics of the samples, and sorts them. There must be at least one sample. */
void tool_sampler_stats(tool_sampler *s, tool_stats *out);
