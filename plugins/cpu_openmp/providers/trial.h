/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - a library for products of matrices put to the test: right, and how fast.
 */
#ifndef COLLET_OPENMP_TRIAL_H
#define COLLET_OPENMP_TRIAL_H

#include "matrix.h"

/* What goes in and comes out: bf16 gives f32, int8 gives int32. */
typedef enum trial_type { TRIAL_F32, TRIAL_F64, TRIAL_BF16, TRIAL_I8, TRIAL_TYPES } trial_type;

/* One product of the type c (m x n, not transposed) = a (m x k) b (k x n), on the calling thread
 * alone; any number of threads call at once. 0: the library declined. */
typedef int (*trial_product)(void *context, trial_type type, const blas_matrix *c,
                             const blas_matrix *a, const blas_matrix *b, int64_t m, int64_t n,
                             int64_t k);

/*
 * Compares products with what they are by definition and times them on up to `threads` threads at
 * once. *gflops: of all of them together, each at its best, by the time that each thread computed
 * (others on the machine do not count). NULL, or in words what is wrong.
 */
const char *trial_run(trial_product product, void *context, trial_type type, int32_t threads,
                      double *gflops);

/* Whole numbers from -4 to 4: their sums of products are exact in every float type and order. */
double trial_number(int64_t i, int64_t j, int64_t seed);

#endif
