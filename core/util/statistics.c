/* SPDX-License-Identifier: Apache-2.0 */
#include <collet/collet.h>
#include <collet/floating.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "struct.h"

static int by_size(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* As numpy.percentile with its default method. */
static double percentile(const double *sorted, uint64_t count, double share)
{
    double at = share * (double)(count - 1);
    uint64_t low = (uint64_t)at;
    if (low + 1 >= count)
        return sorted[count - 1];
    return sorted[low] + (at - (double)low) * (sorted[low + 1] - sorted[low]);
}

static void fill(double *sorted, uint64_t count, collet_statistics *s)
{
    double sum = 0.0, squares = 0.0;
    for (uint64_t i = 0; i < count; i++)
        sum += sorted[i];
    s->mean = sum / (double)count;
    if (isnan(sum)) {
        s->std = s->median = s->p95 = s->p99 = s->min = s->max = s->mean;
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        squares += (sorted[i] - s->mean) * (sorted[i] - s->mean);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    s->std = sqrt(squares / (double)count);
    s->median = percentile(sorted, count, 0.5);
    s->p95 = percentile(sorted, count, 0.95);
    s->p99 = percentile(sorted, count, 0.99);
    s->min = sorted[0];
    s->max = sorted[count - 1];
}

collet_status collet_statistics_of(const double *values, uint64_t count, collet_statistics *out,
                                   collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    collet_statistics full = {.struct_size = sizeof full, .count = count};
    if (!values || !count || !out)
        return collet_fail(err, COLLET_INVALID, "collet_statistics_of: no values, or NULL");
    double *sorted =
        count <= SIZE_MAX / sizeof *sorted ? malloc((size_t)count * sizeof *sorted) : NULL;
    if (!sorted)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory to sort the values");
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    fill(sorted, count, &full);
    free(sorted);
    return struct_out(out, &full, sizeof full, "collet_statistics_of", err);
}
