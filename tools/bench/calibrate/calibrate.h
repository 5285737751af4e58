/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - the measurements of `backend-bench calibrate`, and its documents: one JSON document for each
 * backend, in the format that collet_calibration_write defines. */
#pragma once

#include "bench/base/session.h"
#include "bench/ops/cases.h"
#include "choices.h"

#define CALIBRATE_DTYPES 2 /* f32 and f64 */
#define CALIBRATE_KEY 96   /* bytes of "matmul f32" */
#define CALIBRATE_SLOWEST                                                                          \
    4e-3 /* longest time in seconds of a call on the fastest backend; longer calls are not measured */
#define CALIBRATE_SAME 0.9 /* a time of at least this share of another time counts as equal */

/* The measurements of one backend. */
typedef struct calibrated {
    const char *name;
    cJSON *now;         /* the new document */
    cJSON *before;      /* the document in use; NULL: none */
    int32_t own_memory; /* 1: it has its own memory; also for auto, whose arrays may be on any device */
    choice *choices;    /* choices between the ways that were measured (choices.h) */
    int32_t choice_count;
} calibrated;

/* The new and the old document of a usable backend. If the backend is not measured, both are the document in use. */
typedef struct documents {
    const char *name;
    const cJSON *now, *before;
} documents;

typedef struct calibration_run {
    bench_session *session;
    calibrated backends[BENCH_LIST_MAX]; /* measured backends, in the order in which auto prefers them */
    int32_t count;
    documents usable[BENCH_LIST_MAX]; /* backends among which auto chooses, in its order */
    int32_t usable_count;
    double end;                      /* value of tool_now() at which the time is over */
    int32_t measured, possible;      /* numbers of pairs of op and dtype */
    const char *ops[BENCH_LIST_MAX]; /* ops that are measured */
    int32_t op_count;                /* 0: all ops */
} calibration_run;

/* Sorts the arguments into backends, which become the session's choices, and ops. Also checks --dtype. Fails with
 * UNKNOWN_BACKEND, NOT_FOUND, UNAVAILABLE or DTYPE. */
collet_status calibrate_choose(calibration_run *run, collet_error *err);
/* 1 if the command line allows this op (this dtype) to be measured. */
int32_t calibrate_has_op(const calibration_run *run, const char *op);
int32_t calibrate_has_dtype(const calibration_run *run, const char *dtype);

/* Reads the documents in use and begins new ones. NO_MEMORY. */
collet_status calibrate_begin(calibration_run *run, collet_error *err);
void calibrate_end(calibration_run *run);

/* calibrate_transfers adds "transfer" to the documents of backends with their own memory; calibrate_times adds
 * "times" until run->end. 0 when out of memory. */
int32_t calibrate_transfers(calibration_run *run);
int32_t calibrate_times(calibration_run *run);

/* Copies times of ops that were not measured again from the documents in use. 0 when out of memory. */
int32_t calibrate_keep_old(calibration_run *run);

/* Sets *row to op `*index` of the measured ops and advances *index; returns 0 beyond the last. Ops in which most
 * programs spend their time come first, because the time may not suffice for all ops. Variants
 * ("observables/forces") are left out: they are calls of the same op. */
int32_t calibrate_op(const calibration_run *run, size_t *index, bench_case *row);
/* Sets *layout to the call whose extents have about the product `size` and the proportions of the case's own shape. 0:
 * the op has no such call, or memory does not suffice. */
int32_t calibrate_layout(bench_layout *layout, const bench_session *session, const bench_case *row,
                         const char *dtype, double size);
/* Returns the work of a call, as collet_calibration_write defines it. */
double calibrate_work(const bench_layout *layout);
/* Measures a call on each backend in turn. If seconds[b] is NaN, backend b is left out; otherwise seconds[b]
 * becomes the result, or NaN if the backend cannot run the call. */
void calibrate_measure(calibration_run *run, const bench_layout *layout, double budget,
                       double *seconds);
/* Measures again and keeps the shorter times: processors may have two speeds, which change within a second. */
void calibrate_measure_again(calibration_run *run, const bench_layout *layout, double budget,
                             double *seconds);

/* Compares auto with each backend alone: prints how much longer auto takes than the fastest backend, and for
 * which calls the difference is largest. Returns an exit status. */
int calibrate_check(calibration_run *run);

/* Rounds a number to four digits; measurements are not more accurate. */
double calibrate_rounded(double value);

/* Returns the time in seconds that a document (NULL: none) gives for a key such as "matmul f32" and this work; NaN: not
 * measured. */
double calibrate_seconds(const cJSON *document, const char *key, double work);

/* Prints in sentences which calls auto now runs on another backend, or adds the list "changes" to `report`.
 * 0 when out of memory. */
int32_t calibrate_changes(const calibration_run *run, cJSON *report);
