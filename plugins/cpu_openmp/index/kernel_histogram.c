/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/index/scan.c */
#include "kernel_histogram.h"

#include "cpu_openmp/util/kernel_level.h"

#define STRIP 64 /* elements, divides HISTOGRAM_BLOCK */

/* With a greater error, most strips would have an element too near to an edge for the fast method. */
#define ERROR_MOST (1.0 / 1024)

/* Estimates the bin by a multiplication. The estimate may be wrong by one bin, so it is compared with the edges. */
static void find_exactly(const histogram_edges *e, int32_t *restrict to, const double *restrict in,
                         int64_t n)
{
    const double low = e->low, high = e->high, scale = e->scale, width = e->width;
    const double last = (double)e->bins - 1.0;
    for (int64_t i = 0; i < n; i++) {
        double x = in[i];
        double at = (x - low) * scale;
        at = at > 0 ? at : 0; /* NaN too */
        at = at < last ? at : last;
        double near = (double)(int32_t)at;
        double first = near * width + low, next = (near + 1) * width + low;
        double bin = near + (x >= next ? 1 : 0) - (x < first ? 1 : 0);
        bin = bin < last ? bin : last;
        bin = x >= low ? bin : -1; /* NaN too */
        bin = x <= high ? bin : -1;
        to[i] = (int32_t)bin + 1;
    }
}

#define NAME(x) x##_f32
#define REAL float
#include "kernel_histogram.inc"
#define NAME(x) x##_f64
#define REAL double
#include "kernel_histogram.inc"

static void count(uint64_t *counters, int64_t size, int tables, const int32_t *places, int64_t n)
{
    int64_t i = 0;
    if (tables == HISTOGRAM_TABLES) {
        uint64_t *second = counters + size, *third = second + size, *fourth = third + size;
        for (; i + HISTOGRAM_TABLES <= n; i += HISTOGRAM_TABLES) {
            counters[places[i]]++;
            second[places[i + 1]]++;
            third[places[i + 2]]++;
            fourth[places[i + 3]]++;
        }
    }
    for (; i < n; i++)
        counters[places[i]]++;
}

extern const histogram_kernels LEVEL_NAME(histogram);
const histogram_kernels LEVEL_NAME(histogram) = {find_f32, find_f64, find_exactly, count};
