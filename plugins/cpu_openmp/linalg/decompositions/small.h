/* SPDX-License-Identifier: Apache-2.0 */
/*
 * small.h - decompositions of many small matrices, one per vector lane.
 */
#pragma once

#include "cpu_openmp/runtime/device.h"

/* eigh of a call whose matrices are 3 x 3, on the device's threads. No scratch. */
void small_eigh3(const collet_device *device, const collet_kernel_call *call);

/* Whether one matrix per vector lane is faster than one matrix at a time, in LAPACK too: solve and cholesky of batches. */
int small_takes(const collet_kernel_call *call);

/*
 * Like cpu_decomposition_run (shared/host/linalg/decompositions.h), but vectorised across matrices
 * if small_takes the call. Each thread needs a scratch of small_scratch bytes.
 */
uint64_t small_scratch(const collet_kernel_call *call);
int64_t small_run(const collet_device *device, const collet_kernel_call *call, void *scratch,
                  int64_t begin, int64_t end);
