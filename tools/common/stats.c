/* SPDX-License-Identifier: Apache-2.0 */
#include "stats.h"

#include "json_add.h"

#include <math.h>
#include <stdlib.h>

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double percentile(const double *sorted, int64_t count, double share)
{
    int64_t rank = (int64_t)ceil(share * (double)count);
    return sorted[rank < 1 ? 0 : rank - 1];
}

void bench_stats_of(double *seconds, int64_t count, int64_t calls, bench_stats *out)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < count; i++) {
        seconds[i] /= (double)calls;
        sum += seconds[i];
    }
    double mean = sum / (double)count;
    for (int64_t i = 0; i < count; i++)
        squares += (seconds[i] - mean) * (seconds[i] - mean);
    qsort(seconds, (size_t)count, sizeof *seconds, by_size);
    *out = (bench_stats){.samples = count,
                         .calls_per_sample = calls,
                         .mean = mean,
                         .median = 0.5 * (seconds[(count - 1) / 2] + seconds[count / 2]),
                         .std = count > 1 ? sqrt(squares / (double)(count - 1)) : 0,
                         .p95 = percentile(seconds, count, 0.95),
                         .p99 = percentile(seconds, count, 0.99),
                         .min = seconds[0],
                         .max = seconds[count - 1]};
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
