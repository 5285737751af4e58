/* SPDX-License-Identifier: Apache-2.0 */
/* predict - predicts by the calibrations how long a call takes on a device, and which device is the fastest. */
#pragma once

#include "context/select.h"
#include "device/calibration.h"
#include "memory/array.h"
#include "op/op.h"

/* Seconds: for the kernel, for moving bytes to the device, and for moving results to the host's memory. */
typedef struct predicted {
    double kernel, operands, results;
} predicted;

/* The work of a call, the argument of calibration_seconds. `arrays`: operands, outputs first; NULL: absent. */
double predict_work(const op *o, const collet_array *const *arrays);
/* A calibration has one entry for each op and dtype. Returns the dtype of a call's entry: the dtype of the first
 * input that is not bool; bool if all inputs are bool; without inputs the dtype of the first output. backend-bench
 * has the same rule. */
collet_dtype predict_dtype(const op *o, const collet_array *const *arrays);

/* Predicts the seconds of a call on the device: sets *parts and returns their sum. NaN: the device was not measured with
 * this op. */
double predict_call(const device *d, const op *o, const collet_array *const *arrays,
                    predicted *parts);

/* Index of the device of an automatic selection that should run a call with this signature: the first
 * that has the kernel, unless a later device is predicted to be faster by a tenth (with dtypes other than f32 and f64:
 * twice as fast). -1: no prediction. */
int32_t predict_first(const op *o, const collet_array *const *arrays, uint64_t sig, uint64_t mask,
                      const selection *s);

/* A cheap test: 1 if predict_first may find another device than the first. Do not call it if r->crossovers is
 * NULL. */
int predict_worth(const collet_runtime *r, const op *o, const collet_array *const *arrays);
