/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_source.h - elements that a function computes while they are reduced. */
#pragma once

#include "cpu_openmp/runtime/device.h"

/* Rows that the kernels of columns process at a time. */
#define REDUCE_TREE 8

/* The maximum number of bytes that are computed at a time. */
#define REDUCE_CAPACITY (512 << 10)

/* The maximum number of outputs of one run. */
#define REDUCE_OUTPUTS COLLET_PROGRAM_OUTPUTS

typedef struct reduce_source {
    /* Writes elements begin .. end-1, in C order, for output k of the call to out + k * REDUCE_CAPACITY.
     * `thread`: as in team.h. */
    void (*fetch)(const void *context, int32_t thread, int64_t begin, int64_t end, char *out);
    const void *context;
    char *scratch; /* REDUCE_CAPACITY bytes for each output and thread of the device */
} reduce_source;
