/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blas_trial.h - OpenBLAS put to the test: right products, a right solution, and how fast.
 */
#ifndef COLLET_OPENMP_BLAS_TRIAL_H
#define COLLET_OPENMP_BLAS_TRIAL_H

#include "blas.h"

typedef struct blas_trial_case {
    blas_settings settings;
    int32_t threads;
} blas_trial_case;

typedef struct blas_trial_result {
    int32_t fine;     /* 0: `why` says what is wrong */
    double gflops[2]; /* f32, f64: of products on all threads at once, the best of a few */
    char config[128], core[32], path[512], why[BLAS_REASON];
} blas_trial_result;

/* The body of a trial (collet_host.trial): a blas_trial_case, a blas_trial_result. Opens the
 * library, so its process is for nothing else. */
void blas_trial(void *argument, void *result);

/* Fills what is known of a library that is open: everything but `gflops` and `why`. */
void blas_describe(blas *b, blas_trial_result *result);

#endif
