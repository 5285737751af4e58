/* SPDX-License-Identifier: Apache-2.0 */
#include "sampler.h"

#include <stdlib.h>

#define SAMPLE_SECONDS 20e-6 /* the clock's own cost is below a thousandth of it */
#define SAMPLES_MIN 3
#define CALLS_MAX 1000000

collet_status bench_sampler_create(bench_sampler *s, bench_body body, void *user)
{
    *s = (bench_sampler){.body = body, .user = user, .calls = 1, .capacity = BENCH_SAMPLES_MAX};
    s->seconds = calloc((size_t)s->capacity, sizeof *s->seconds);
    return s->seconds ? COLLET_OK : COLLET_NO_MEMORY;
}

void bench_sampler_clear(bench_sampler *s)
{
    free(s->seconds);
    *s = (bench_sampler){0};
}

static collet_status timed(bench_sampler *s, int64_t calls, double *seconds)
{
    double begin = bench_now();
    collet_status status = s->body(s->user, calls);
    *seconds = bench_now() - begin;
    return status;
}

collet_status bench_sampler_warm(bench_sampler *s, double budget)
{
    double minimum = budget / (double)s->capacity, seconds = 0, begin = bench_now();
    minimum = minimum > SAMPLE_SECONDS ? minimum : SAMPLE_SECONDS;
    collet_status status =
        timed(s, 1, &seconds); /* the first call opens devices and faults pages */
    s->calls = 1;
    while (status == COLLET_OK) {
        status = timed(s, s->calls, &seconds);
        if (seconds < minimum && s->calls < CALLS_MAX)
            s->calls *= 2;
        else if (bench_now() - begin > 0.1 * budget)
            break;
    }
    return status;
}

collet_status bench_sampler_take(bench_sampler *s)
{
    double seconds;
    collet_status status = timed(s, s->calls, &seconds);
    if (status == COLLET_OK && s->count < s->capacity)
        s->seconds[s->count++] = seconds;
    return status;
}

collet_status bench_sampler_run(bench_sampler *s, double budget)
{
    double end = bench_now() + budget;
    collet_status status = COLLET_OK;
    for (int64_t taken = 0; status == COLLET_OK && (taken < SAMPLES_MIN || bench_now() < end);
         taken++)
        status = bench_sampler_take(s);
    return status;
}

collet_status bench_sampler_turn(bench_sampler *s, double budget)
{
    collet_status status = s->count ? s->body(s->user, 1) : bench_sampler_warm(s, budget);
    double end = bench_now() + budget;
    do {
        if (status == COLLET_OK)
            status = bench_sampler_take(s);
    } while (status == COLLET_OK && bench_now() < end);
    return status;
}

void bench_sampler_stats(bench_sampler *s, bench_stats *out)
{
    bench_stats_of(s->seconds, s->count, s->calls, out);
}
