/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - what backend-bench calibrate measures, and its documents: one for each backend, in the
 * form that collet_calibration_write states. */
#ifndef TOOLS_BENCH_CALIBRATE_CALIBRATE_H
#define TOOLS_BENCH_CALIBRATE_CALIBRATE_H

#include "bench/base/session.h"
#include "bench/ops/cases.h"
#include "choices.h"

#define CALIBRATE_DTYPES 2 /* f32 and f64 */
#define CALIBRATE_KEY 96   /* bytes of "matmul f32" */
#define CALIBRATE_SLOWEST                                                                          \
    4e-3 /* seconds of a call on the fastest backend: longer ones are not measured */
#define CALIBRATE_SAME 0.9 /* of a time: another that is not shorter is taken as equal */

/* The measurements of one backend. */
typedef struct calibrated {
    const char *name;
    cJSON *now;         /* the new document */
    cJSON *before;      /* the document in use; NULL: none */
    int32_t own_memory; /* 1 for auto too: its arrays may be on any device */
    choice *choices;    /* of the ways that were measured */
    int32_t choice_count;
} calibrated;

/* The documents of a usable backend. If it is not measured, both are the document in use. */
typedef struct documents {
    const char *name;
    const cJSON *now, *before;
} documents;

typedef struct calibration_run {
    bench_session *session;
    calibrated backends[BENCH_LIST_MAX]; /* in the order of auto */
    int32_t count;
    documents usable[BENCH_LIST_MAX]; /* among which auto chooses, in its order */
    int32_t usable_count;
    double end;                      /* tool_now() at which the time is over */
    int32_t measured, possible;      /* ops with a dtype */
    const char *ops[BENCH_LIST_MAX]; /* those that are measured */
    int32_t op_count;                /* 0: all */
} calibration_run;

/* Divides the arguments into backends, which become the session's choices, and ops; and checks --dtype.
 * UNKNOWN_BACKEND, NOT_FOUND, UNAVAILABLE, DTYPE. */
collet_status calibrate_choose(calibration_run *run, collet_error *err);
/* Whether the command line lets the op, and the dtype, be measured. */
int32_t calibrate_has_op(const calibration_run *run, const char *op);
int32_t calibrate_has_dtype(const calibration_run *run, const char *dtype);

/* Reads the documents in use and begins new ones. NO_MEMORY. */
collet_status calibrate_begin(calibration_run *run, collet_error *err);
void calibrate_end(calibration_run *run);

/* Adds "transfer" for backends with memory of their own, then "times" until run->end. 0 when out of
 * memory. */
int32_t calibrate_transfers(calibration_run *run);
int32_t calibrate_times(calibration_run *run);

/* Copies times of ops that were not measured again from the documents in use. 0 when out of memory. */
int32_t calibrate_keep_old(calibration_run *run);

/* Sets *row to op `*index` of the measured ops and advances *index. Ops in which most programs spend their time
 * come first, because the time may not be enough for all. Variants ("observables/forces") are left out: they are
 * calls of the same op. Returns 0 beyond the last. */
int32_t calibrate_op(const calibration_run *run, size_t *index, bench_case *row);
/* The call whose shape has about this product of its extents, in the proportions of the case's own. 0: the op
 * has no such call, or memory does not suffice. */
int32_t calibrate_layout(bench_layout *layout, const bench_session *session, const bench_case *row,
                         const char *dtype, double size);
/* The work as collet_calibration_write defines it. */
double calibrate_work(const bench_layout *layout);
/* Measures a call on each backend in turn. seconds[b]: NaN where backend b is left out, else set to the result,
 * or to NaN. */
void calibrate_measure(calibration_run *run, const bench_layout *layout, double budget,
                       double *seconds);
/* The same once more; the shorter times count. Processors may have two speeds, which change within a second. */
void calibrate_measure_again(calibration_run *run, const bench_layout *layout, double budget,
                             double *seconds);

/* Compares auto with each backend alone: prints how much longer it takes, and where most. An exit status. */
int calibrate_check(calibration_run *run);

/* A number with four digits, which is what a measurement has. */
double calibrate_rounded(double value);

/* Seconds of "matmul f32" at this work by a document (NULL: none); NaN: not measured. */
double calibrate_seconds(const cJSON *document, const char *key, double work);

/* Prints what changes under auto, in sentences, or adds the list "changes" to `report`. 0 when out of
 * memory. */
int32_t calibrate_changes(const calibration_run *run, cJSON *report);

#endif
