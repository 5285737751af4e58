/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.h - sum, mean, min and max of an array, or of elements that are computed when they are
 * needed: the results have the same bits.
 */
#ifndef PLUGINS_CPU_OPENMP_ARRAY_REDUCE_H
#define PLUGINS_CPU_OPENMP_ARRAY_REDUCE_H

#include "cpu_openmp/runtime/device.h"

/* Rows that the kernels of columns take at a time. */
#define REDUCE_TREE 8

/* Bytes that are computed at a time, at most. */
#define REDUCE_CAPACITY (512 << 10)

typedef struct reduce_source {
    /* Writes elements begin .. end-1, in C order, to `out`. `thread`: as in team.h. */
    void (*fetch)(const void *context, int32_t thread, int64_t begin, int64_t end, char *out);
    const void *context;
    char *scratch; /* REDUCE_CAPACITY bytes for each thread of the device */
} reduce_source;

/* Bytes of workspace that a call needs. */
int64_t reduce_workspace(const collet_device *device, const collet_kernel_call *call);

/*
 * Runs call->op, whose workspace is in `call`. With a source the input is f32, f64, c64 or c128 and
 * has the strides of C order; it is read from the source. NULL: from memory.
 */
void reduce_run(collet_device *device, const collet_kernel_call *call, const reduce_source *source);

#endif
