/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calibration - the measurements of `backend-bench calibrate` for a backend on this machine: seconds of ops
 * by their work, the rates of transfers, and a text for the backend itself. Each backend has a file in the
 * directory of the cache. Its name has a hash of the backend and of the processor, drivers and libraries that it can
 * use here, so the file is not used with another processor, driver, library, level or number of threads. The files
 * are read when the runtime is created; then the values are constant, for any thread.
 */
#pragma once

#include "device.h"

#define CALIBRATION_POWERS 48
#define CALIBRATION_NEVER UINT8_MAX

/* The dtypes that are measured. Other dtypes use the times of f32 or f64, whichever is closer in size. */
enum { CALIBRATION_F32, CALIBRATION_F64, CALIBRATION_DTYPES };

/* Powers of two, or NEVER: the smallest work at which another device than the first may be chosen, and the minimum
 * number of elements of an operand of such a call. */
struct crossover {
    uint8_t from[CALIBRATION_DTYPES];
    uint8_t elements;
};

typedef struct calibration {
    char *path;
    char *calibrated; /* the backend's choice "calibrated"; NULL: none */
    /* Bytes per second, and the fixed seconds of a transfer; 0: the device works on host memory. */
    double to_device, to_host, latency;
    uint16_t of[OP_BUILTIN_MAX][CALIBRATION_DTYPES]; /* 1 + index into `seconds`; 0: not measured */
    uint32_t count;
    float (*seconds)[CALIBRATION_POWERS]; /* at a work of 2^k */
} calibration;

/* Reads the file of a backend whose capabilities are known, if the settings allow it. A malformed
 * file is ignored, with a warning. NO_MEMORY. */
collet_status calibration_read(backend *b, collet_error *err);
void calibration_free(calibration *c);

/* Sets r->crossovers from the calibrations of all backends. NO_MEMORY. */
collet_status calibration_compare(collet_runtime *r, collet_error *err);

static inline int calibration_dtype(collet_dtype dtype)
{
    return collet_dtype_size(dtype) < 8 ? CALIBRATION_F32 : CALIBRATION_F64;
}

/* The calibration of a device; NULL: there is none. Only the first device of a backend has a calibration. */
static inline const calibration *calibration_of(const device *d)
{
    return d->index == 0 ? d->owner->calibration : NULL;
}

/* Seconds of an op on the device at this work (the products of a matmul, else the elements of the
 * largest operand); NaN: not measured. */
double calibration_seconds(const device *d, uint32_t id, collet_dtype dtype, double work);
