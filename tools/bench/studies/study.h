/* SPDX-License-Identifier: Apache-2.0 */
/* What compare, sweep, roofline and trajectory share: the op of the command line, and rows. */
#ifndef TOOLS_BENCH_STUDIES_STUDY_H
#define TOOLS_BENCH_STUDIES_STUDY_H

#include "bench/base/table.h"
#include "bench/ops/turns.h"

/* The i-th --dtype; NULL: the default, if there is none. */
const char *study_dtype(const bench_session *session, int32_t i);
int32_t study_dtypes(const bench_session *session);

/* Finds the case that the command line names. INVALID without one, and errors of bench_case_find. */
collet_status study_case(const bench_session *session, bench_case *row, collet_error *err);

/* Runs a mode with one table: `measure` for the layout of each --dtype. An exit status. */
int study_each_dtype(bench_session *session, const bench_column *columns, int32_t count,
                     int (*measure)(bench_table *table, const bench_layout *layout));

/* Fills `turns` with the choices of the session; the caller calls free. NULL when out of memory. */
bench_turn *study_turns(const bench_session *session);

/* 10^9 operations, or bytes if the call has none, a second. */
double study_rate(const bench_layout *layout, double seconds);
const char *study_shape(const bench_layout *layout, char text[BENCH_SHAPE_TEXT]);

/* What the roofs allow, in 10^9 operations a second, for `intensity` operations a byte; without
 * operations (NaN) in 10^9 bytes. */
double study_roof(double intensity, double bandwidth, double peak);

/* How the medians of consecutive blocks of a run change: the slope of the line of least squares, from
 * the first to the last block, relative to their mean. */
double study_drift(const double *medians, int32_t count);
/* 1 if all blocks of one half are slower than all of the other by more than 5 %. */
int32_t study_drifts(const double *medians, int32_t count);
/* Mean difference of consecutive values, relative to `median` (the interarrival jitter of RFC
 * 3550, not smoothed). */
double study_jitter(const double *values, int64_t count, double median);
/* 1 if `bytes`, noted at the start and after each block, grow by more than `tolerance`, in more than
 * half of the blocks, and never shrink by as much. */
int32_t study_leaks(const double *bytes, int32_t count, double tolerance);

#endif
