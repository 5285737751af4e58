/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_check.h - checks OpenBLAS: right products, a right solution, and a coarse rate.
 */
#ifndef COLLET_OPENMP_BLAS_CHECK_H
#define COLLET_OPENMP_BLAS_CHECK_H

#include "blas.h"

/* Takes some milliseconds. gflops: of f32 and f64 products on one thread. Returns NULL, or what is
 * wrong. */
const char *blas_check(blas *b, int32_t threads, double gflops[2]);

#endif
