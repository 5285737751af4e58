/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench.c */
#include "sampler.h"

#include <stdlib.h>

#define SAMPLE_SECONDS 20e-6 /* minimum time of a sample; a reading of the clock takes less than 1/1000 of this time */
#define CALLS_MAX 1000000

collet_status tool_sampler_create(tool_sampler *s, tool_sampler_body body, void *user)
{
    *s = (tool_sampler){.body = body, .user = user, .capacity = TOOL_SAMPLES_MAX};
    s->seconds = calloc((size_t)s->capacity, sizeof *s->seconds);
    return s->seconds ? COLLET_OK : COLLET_NO_MEMORY;
}

void tool_sampler_clear(tool_sampler *s)
{
    free(s->seconds);
    *s = (tool_sampler){0};
}

static collet_status timed(tool_sampler *s, int64_t calls, double *seconds)
{
    double begin = tool_now();
    collet_status status = s->body(s->user, calls);
    *seconds = tool_now() - begin;
    return status;
}

collet_status tool_sampler_warm(tool_sampler *s, double budget)
{
    double minimum = budget / (double)s->capacity, seconds = 0, begin = tool_now();
    minimum = minimum > SAMPLE_SECONDS ? minimum : SAMPLE_SECONDS;
    collet_status status =
        timed(s, 1, &seconds); /* the first call opens devices and faults pages */
    s->calls = 1;
    while (status == COLLET_OK) {
        status = timed(s, s->calls, &seconds);
        if (seconds < minimum && s->calls < CALLS_MAX)
            s->calls *= 2;
        else if (tool_now() - begin > 0.1 * budget)
            break;
    }
    return status;
}

collet_status tool_sampler_take(tool_sampler *s)
{
    double seconds;
    collet_status status = timed(s, s->calls, &seconds);
    if (status == COLLET_OK && s->count < s->capacity)
        s->seconds[s->count++] = seconds;
    return status;
}

collet_status tool_sampler_turn(tool_sampler *s, double budget)
{
    collet_status status = s->calls ? s->body(s->user, 1) : tool_sampler_warm(s, budget);
    double end = tool_now() + budget;
    do {
        if (status == COLLET_OK)
            status = tool_sampler_take(s);
    } while (status == COLLET_OK && tool_now() < end);
    return status;
}

void tool_sampler_stats(tool_sampler *s, tool_stats *out)
{
    tool_stats_of(s->seconds, s->count, s->calls, out);
}
