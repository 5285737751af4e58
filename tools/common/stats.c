/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

#include "json_add.h"

#include <collet/collet.h>
#include <stdio.h>
#include <stdlib.h>

void bench_stats_of(double *seconds, int64_t count, int64_t calls, bench_stats *out)
{
    collet_statistics s = {.struct_size = sizeof s};
    collet_error err;
    for (int64_t i = 0; i < count; i++)
        seconds[i] /= (double)calls;
    if (collet_statistics_of(seconds, (uint64_t)count, &s, &err) != COLLET_OK) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    *out = (bench_stats){count, calls, s.mean, s.median, s.std, s.p95, s.p99, s.min, s.max};
}

cJSON *bench_stats_json(const bench_stats *s)
{
    cJSON *object = cJSON_CreateObject();
    if (object && json_add_number(object, "mean", s->mean) &&
        json_add_number(object, "median", s->median) && json_add_number(object, "std", s->std) &&
        json_add_number(object, "p95", s->p95) && json_add_number(object, "p99", s->p99) &&
        json_add_number(object, "min", s->min) && json_add_number(object, "max", s->max))
        return object;
    cJSON_Delete(object);
    return NULL;
}
