/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What backend-bench measures: every op of libcore, as its description says, and in another way
 * where a table (cases.c) says so.
 */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include "bench/base/options.h"
#include "bench/base/shape.h"

#include <collet/collet.h>

typedef struct bench_layout bench_layout;

/* What the op's own description does not say. */
typedef struct bench_detail {
    const char *name;    /* the op, or op/variant; NULL: the op's */
    const char *extents; /* what the shape's numbers are: "F,N"; "..." any axes, in front only;
                            NULL: the letters of the op's inputs */
    /* One letter an operand, outputs first: 'o' an output, '-' absent, else how values are made
     * (inputs.h). NULL: all there, inputs 'u'. */
    const char *operands;
    /* Changes shapes that the patterns gave; NULL: they are right. */
    collet_status (*arrange)(bench_layout *layout, collet_error *err);
    /* Changes the parameter block, which has its defaults; NULL: they are right. */
    void (*parameters)(bench_layout *layout);
    /* Operations a call, 0 when it is bound by memory; NULL: it always is. */
    double (*flops)(const bench_layout *layout);
} bench_detail;

#define BENCH_LETTERS 32
#define BENCH_PARAMS 256 /* no parameter block is larger */

typedef struct bench_case {
    const char *name;
    const char *shape; /* when none is given */
    collet_op_info op;
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
    const bench_case *row; /* lent */
    collet_op_info op;
    bench_shape shape;
    uint32_t axes; /* bit i: axis i is named by --axis; all when it is not given */
    char signature[2 * COLLET_MAX_OPERANDS]; /* "d:ff" */
    uint32_t count;                          /* outputs and inputs */
    bench_operand operands[COLLET_MAX_OPERANDS];
    union {
        _Alignas(16) unsigned char bytes[BENCH_PARAMS];
        collet_fft_params fft;
        collet_ternary_quantize_params ternary_quantize;
        collet_ternary_linear_params ternary_linear;
    } params;                         /* where op.params_size is not 0 */
    double bytes_read, bytes_written; /* each operand once */
    double flops;                     /* 0: bound by memory */
};

/* The cases in the order of the ops; 0 beyond the last. */
int32_t bench_case_at(const collet_runtime *runtime, size_t index, bench_case *found);

/* The case of that name. NOT_FOUND names the nearest ones. */
collet_status bench_case_find(const collet_runtime *runtime, const char *name, bench_case *found,
                              collet_error *err);

/* Lays a call out for one --dtype item (NULL: f32). SHAPE, DTYPE, INVALID, OVERFLOW: the text says
 * what is wrong. */
collet_status bench_layout_make(bench_layout *layout, const collet_runtime *runtime,
                                const bench_case *row, const bench_options *options,
                                const char *dtype, collet_error *err);

/* "compute" or "memory", which bounds a call of so many operations (bench_layout.flops). */
const char *bench_bound(double flops);

#endif
