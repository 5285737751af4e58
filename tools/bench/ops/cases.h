/* SPDX-License-Identifier: Apache-2.0 */
/* The ops that backend-bench measures: every op of libcore. libcore's description of an op determines its operands;
 * where the description is not enough, a table has details (cases.c). */
#pragma once

#include "bench/base/options.h"
#include "bench/base/shape.h"

#include <collet/collet.h>

typedef struct bench_layout bench_layout;

/* Details of an op that its description does not have. */
typedef struct bench_detail {
    const char *name;    /* the op, or op/variant; NULL: the op's name */
    const char *extents; /* meaning of the shape's numbers: "F,N"; "...", only at the start, stands for
                            any axes. NULL: the letters of the op's inputs */
    /* One letter for each operand, outputs first: 'o' an output, '-' absent, else a kind of values
     * (inputs.h). NULL: all operands are present, and all inputs are 'u'. */
    const char *operands;
    /* Changes the shapes from the patterns; may be NULL. */
    collet_status (*arrange)(bench_layout *layout, collet_error *err);
    /* Changes the parameter block from its defaults; may be NULL. */
    void (*parameters)(bench_layout *layout);
    /* Number of operations of a call; 0 if it is bound by memory. NULL: always 0. */
    double (*flops)(const bench_layout *layout);
} bench_detail;

#define BENCH_LETTERS 32
#define BENCH_PARAMS 256 /* no parameter block is larger */

typedef struct bench_case {
    const char *name;
    const char *shape; /* the default */
    collet_ops_info op;
    const bench_detail *detail;
    char extents[BENCH_LETTERS]; /* as in bench_detail */
} bench_case;

typedef struct bench_operand {
    char make; /* as in bench_detail.operands */
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS];
} bench_operand;

/* A call to measure, without its arrays. */
struct bench_layout {
    const bench_case *row; /* not owned */
    collet_ops_info op;
    bench_shape shape;
    uint32_t axes;                           /* bit i: --axis names axis i; without --axis all */
    char signature[2 * COLLET_MAX_OPERANDS]; /* "d:ff" */
    uint32_t count;                          /* outputs and inputs */
    bench_operand operands[COLLET_MAX_OPERANDS];
    union {
        _Alignas(16) unsigned char bytes[BENCH_PARAMS];
        collet_fft_params fft;
        collet_partition_params partition;
        collet_ternary_quantize_params ternary_quantize;
        collet_ternary_linear_params ternary_linear;
    } params;                         /* used if op.params_size is not 0 */
    double bytes_read, bytes_written; /* each operand counts once */
    double flops;                     /* 0: bound by memory */
};

/* Sets *found to case number `index`, in the order of the ops; 0 beyond the last. */
int32_t bench_case_at(const collet_runtime *runtime, size_t index, bench_case *found);

/* Finds the case with this name. NOT_FOUND: the text names an op with a similar name, if there is one. */
collet_status bench_case_find(const collet_runtime *runtime, const char *name, bench_case *found,
                              collet_error *err);

/* Makes the operands of a call for one word of --dtype (NULL: f32). SHAPE, DTYPE, INVALID,
 * OVERFLOW. */
collet_status bench_layout_make(bench_layout *layout, const collet_runtime *runtime,
                                const bench_case *row, const bench_options *options,
                                const char *dtype, collet_error *err);

/* Returns the resource that limits a call; `flops` as in bench_layout. */
static inline const char *bench_bound(double flops)
{
    return flops > 0 ? "compute" : "memory";
}
