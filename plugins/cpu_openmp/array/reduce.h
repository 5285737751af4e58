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

/* The maximum number of bytes that are computed at a time. */
#define REDUCE_CAPACITY (512 << 10)

/* Outputs of one run. */
#define REDUCE_OUTPUTS COLLET_PROGRAM_OUTPUTS

typedef struct reduce_source {
    /* Writes elements begin .. end-1, in C order, for output k of the call to out + k * REDUCE_CAPACITY.
     * `thread`: as in team.h. */
    void (*fetch)(const void *context, int32_t thread, int64_t begin, int64_t end, char *out);
    const void *context;
    char *scratch; /* REDUCE_CAPACITY bytes for each output and thread of the device */
} reduce_source;

/* Whether all outputs of a call, whose one input stands for computed elements, can be reduced in one run: they
 * need one dtype and equal strides. */
int reduce_together(const collet_device *device, const collet_kernel_call *call);

/* Bytes of workspace that a call needs. */
int64_t reduce_workspace(const collet_device *device, const collet_kernel_call *call);

/*
 * Runs call->op, whose workspace is in `call`. source NULL: the input is read from memory. Else the
 * source computes it; the input must be f32, f64, c64 or c128 with the strides of C order.
 */
void reduce_run(collet_device *device, const collet_kernel_call *call, const reduce_source *source);

#endif
