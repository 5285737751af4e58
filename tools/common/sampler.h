/* SPDX-License-Identifier: Apache-2.0 */
/* Taking samples: warm up, find out how many calls a sample needs, then sample until time is spent.
 */
#ifndef BENCH_SAMPLER_H
#define BENCH_SAMPLER_H

#include "stats.h"

#include <collet/collet.h>

/* Does `calls` calls and waits until they are done. */
typedef collet_status (*bench_body)(void *user, int64_t calls);

typedef struct bench_sampler {
    bench_body body;
    void *user;
    int64_t calls; /* a sample; chosen by bench_sampler_warm */
    int64_t count, capacity;
    double *seconds; /* of each sample */
} bench_sampler;

/* Room for BENCH_SAMPLES_MAX samples. NO_MEMORY. */
collet_status bench_sampler_create(bench_sampler *s, bench_body body, void *user);
void bench_sampler_clear(bench_sampler *s);

/* Warms up for about a tenth of `budget` seconds, two calls at least, and chooses `calls` so that a
 * sample is long against the clock and the samples of the budget fit. */
collet_status bench_sampler_warm(bench_sampler *s, double budget);

/* One sample. Nothing is allocated. When there is no room left the sample is not kept. */
collet_status bench_sampler_take(bench_sampler *s);

/* Samples for `budget` seconds, three at least. */
collet_status bench_sampler_run(bench_sampler *s, double budget);

/* One of several turns: warms up, fully the first time and with one call later, then samples for
 * `budget` seconds, once at least. */
collet_status bench_sampler_turn(bench_sampler *s, double budget);

/* count > 0; orders the samples. */
void bench_sampler_stats(bench_sampler *s, bench_stats *out);

#endif
