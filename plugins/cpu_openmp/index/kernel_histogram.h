/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_histogram.h - the bins of elements, and how many are in each. */
#pragma once

#include <stdint.h>

#define HISTOGRAM_BLOCK 1024 /* the maximum number of elements of a call */
#define HISTOGRAM_TABLES 4

typedef struct histogram_edges {
    double low, high, width, scale; /* width: as in docs/KERNELS.md; scale: 1 / width */
    int64_t bins;
    /* Bounds of the error of (x - low) * scale, computed in f32 and in f64. */
    double error_f32, error_f64;
} histogram_edges;

typedef struct histogram_kernels {
    /* to[i] = 1 + the bin of in[i]; 0 or bins + 1 if in[i] is in no bin; i < n <= HISTOGRAM_BLOCK. */
    void (*find_f32)(const histogram_edges *e, int32_t *to, const float *in, int64_t n);
    void (*find_f64)(const histogram_edges *e, int32_t *to, const double *in, int64_t n);
    /* The same by comparisons with the edges, for elements that are often at edges. */
    void (*find_exactly)(const histogram_edges *e, int32_t *to, const double *in, int64_t n);
    /* Adds 1 to counter places[i] of table i % tables for i < n. With several tables, successive increments
     * of a frequent bin do not depend on each other. tables: 1 or HISTOGRAM_TABLES, of `size` counters each. */
    void (*count)(uint64_t *counters, int64_t size, int tables, const int32_t *places, int64_t n);
} histogram_kernels;
