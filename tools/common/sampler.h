/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling: warm up, choose the number of calls a sample, then sample until the time is over. */
#ifndef BENCH_SAMPLER_H
#define BENCH_SAMPLER_H

#include "stats.h"

#include <collet/collet.h>

/* Makes `calls` calls and waits for them. */
typedef collet_status (*bench_body)(void *user, int64_t calls);

typedef struct bench_sampler {
    bench_body body;
    void *user;
    int64_t calls; /* a sample; chosen by bench_sampler_warm */
    int64_t count, capacity;
    double *seconds; /* of each sample */
} bench_sampler;

/* Allocates BENCH_SAMPLES_MAX samples. NO_MEMORY. */
collet_status bench_sampler_create(bench_sampler *s, bench_body body, void *user);
void bench_sampler_clear(bench_sampler *s);

/* Warms up for about a tenth of `budget` seconds, two calls at least, and chooses `calls` so that a
 * sample is long against the clock and all samples of the budget fit. */
collet_status bench_sampler_warm(bench_sampler *s, double budget);

/* One sample; not kept when `capacity` is reached. Allocates nothing. */
collet_status bench_sampler_take(bench_sampler *s);

/* Samples for `budget` seconds, three at least. */
collet_status bench_sampler_run(bench_sampler *s, double budget);

/* One of several turns: warms up, fully the first time and with one call later, then samples for
 * `budget` seconds, once at least. */
collet_status bench_sampler_turn(bench_sampler *s, double budget);

/* count > 0; orders the samples. */
void bench_sampler_stats(bench_sampler *s, bench_stats *out);

#endif
