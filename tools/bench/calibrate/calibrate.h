/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - what backend-bench calibrate measures, and its documents: one for each backend, in the
 * form that collet_calibration_write states. */
#ifndef TOOLS_BENCH_CALIBRATE_CALIBRATE_H
#define TOOLS_BENCH_CALIBRATE_CALIBRATE_H

#include "bench/base/session.h"
#include "bench/ops/cases.h"

#define CALIBRATE_DTYPES 2 /* f32 and f64 */
#define CALIBRATE_KEY 96   /* bytes of "matmul f32" */

/* The measurements of one backend. */
typedef struct calibrated {
    const char *name;
    cJSON *now;    /* the new document */
    cJSON *before; /* the document in use; NULL: none */
    int32_t own_memory;
} calibrated;

typedef struct calibration_run {
    bench_session *session;
    calibrated backends[BENCH_LIST_MAX]; /* in the order of auto */
    int32_t count;
    double end;                 /* tool_now() at which the time is over */
    int32_t measured, possible; /* ops with a dtype */
} calibration_run;

/* Reads the documents in use and begins new ones. NO_MEMORY. */
collet_status calibrate_begin(calibration_run *run, collet_error *err);
void calibrate_end(calibration_run *run);

/* Adds "transfer" for backends with memory of their own, then "times" until run->end. 0 when out of
 * memory. */
int32_t calibrate_transfers(calibration_run *run);
int32_t calibrate_times(calibration_run *run);

/* Copies times of ops that were not measured again from the documents in use. 0 when out of memory. */
int32_t calibrate_keep_old(calibration_run *run);

/* A number with four digits, which is what a measurement has. */
double calibrate_rounded(double value);

/* Seconds of "matmul f32" at this work by a document (NULL: none); NaN: not measured. */
double calibrate_seconds(const cJSON *document, const char *key, double work);

/* Prints what changes under auto, in sentences, or adds the list "changes" to `report`. 0 when out of
 * memory. */
int32_t calibrate_changes(const calibration_run *run, cJSON *report);

#endif
