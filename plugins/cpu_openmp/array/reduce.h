/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduce.h - reductions of an array, or of elements that a function computes piece by piece. Both
 * give the same bits for the same elements.
 */
#ifndef PLUGINS_CPU_OPENMP_ARRAY_REDUCE_H
#define PLUGINS_CPU_OPENMP_ARRAY_REDUCE_H

#include "cpu_openmp/runtime/device.h"

/* Rows that the kernels of columns take at a time. */
#define REDUCE_TREE 8

/* Bytes that are computed at a time, at most. */
#define REDUCE_CAPACITY (512 << 10)

/* Outputs of one run. */
#define REDUCE_OUTPUTS COLLET_PROGRAM_OUTPUTS

typedef struct reduce_source {
    /* Writes elements begin .. end-1, in C order, to `out`, for further outputs of the call
     * REDUCE_CAPACITY bytes apart. `thread`: as in team.h. */
    void (*fetch)(const void *context, int32_t thread, int64_t begin, int64_t end, char *out);
    const void *context;
    char *scratch; /* REDUCE_CAPACITY bytes for each output and thread of the device */
} reduce_source;

/* 1 if the outputs of the call, whose inputs are computed, can be reduced in one run: they have one
 * dtype and equal strides. The call has one input. */
int reduce_together(const collet_device *device, const collet_kernel_call *call);

/* Bytes of workspace that a call needs. */
int64_t reduce_workspace(const collet_device *device, const collet_kernel_call *call);

/*
 * Runs call->op, whose workspace is in `call`. With a source the input is f32, f64, c64 or c128 and
 * has the strides of C order; it is read from the source. NULL: from memory.
 */
void reduce_run(collet_device *device, const collet_kernel_call *call, const reduce_source *source);

#endif
