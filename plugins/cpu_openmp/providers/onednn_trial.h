/* SPDX-License-Identifier: Apache-2.0 */
/*
 * onednn_trial.h - oneDNN put to the test.
 */
#ifndef COLLET_OPENMP_ONEDNN_TRIAL_H
#define COLLET_OPENMP_ONEDNN_TRIAL_H

#include "onednn.h"

enum { ONEDNN_F32, ONEDNN_BF16, ONEDNN_I8, ONEDNN_TYPES };

typedef struct onednn_trial_case {
    onednn_settings settings;
    int32_t threads;
} onednn_trial_case;

typedef struct onednn_trial_result {
    int32_t fine;                /* f32 products are right; 0: `why` says what is wrong */
    double gflops[ONEDNN_TYPES]; /* on all threads; 0: it does not have them, or they are wrong */
    char version[32], isa[32], path[512], why[ONEDNN_REASON];
} onednn_trial_result;

/* The body of a trial (collet_host.trial): an onednn_trial_case, an onednn_trial_result. */
void onednn_trial(void *argument, void *result);

/* Fills what is known of a library that is open: everything but `gflops` and `why`. */
void onednn_describe(onednn *o, onednn_trial_result *result);

#endif
