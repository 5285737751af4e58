/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What backend-bench needs of each op, in one table (cases.c): a new op is a new row there, and a
 * test fails while it is missing.
 */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include "bench/base/options.h"
#include "bench/base/shape.h"

#include <collet/collet.h>

typedef struct bench_layout bench_layout;

typedef struct bench_case {
    const char *name;    /* the op, or op/variant */
    const char *extents; /* what the shape's numbers are: "F,N"; "..." any axes, in front only */
    const char *shape;   /* when none is given */
    /* One letter an operand, outputs first: 'o' an output, '-' absent, else how values are made
     * (inputs.h). */
    const char *operands;
    /* Shapes of the operands from the extents; NULL: by the op's own patterns. */
    collet_status (*arrange)(bench_layout *layout, collet_error *err);
    /* Sets the parameter block; NULL: the op has none. */
    void (*parameters)(bench_layout *layout);
    /* Operations a call, 0 when it is bound by memory; NULL: it always is. */
    double (*flops)(const bench_layout *layout);
} bench_case;

typedef struct bench_operand {
    char make; /* as in bench_case.operands */
    collet_dtype dtype;
    int32_t ndim;
    int64_t shape[COLLET_MAX_DIMS];
} bench_operand;

/* A call to measure, without its arrays. */
struct bench_layout {
    const bench_case *row;
    collet_op_info op;
    bench_shape shape;
    uint32_t axes; /* bit i: axis i is named by --axis; all when it is not given */
    char signature[2 * COLLET_MAX_OPERANDS]; /* "d:ff" */
    uint32_t count;                          /* outputs and inputs */
    bench_operand operands[COLLET_MAX_OPERANDS];
    union {
        collet_fill_params fill;
        collet_axpy_params axpy;
        collet_transpose_params transpose;
        collet_reduce_params reduce;
        collet_random_params random;
        collet_fft_params fft;
        collet_fftshift_params fftshift;
        collet_ternary_quantize_params ternary_quantize;
        collet_ternary_format_params ternary_format;
        collet_ternary_linear_params ternary_linear;
    } params;
    int32_t has_params;
    double bytes_read, bytes_written; /* each operand once */
    double flops;                     /* 0: bound by memory */
};

size_t bench_case_count(void);
const bench_case *bench_case_at(size_t index);

/* The case of that name. NOT_FOUND names the nearest ones. */
collet_status bench_case_find(const collet_runtime *runtime, const char *name,
                              const bench_case **found, collet_error *err);

/* The op that the case is about, without the variant. NOT_FOUND. */
collet_status bench_case_op(const collet_runtime *runtime, const bench_case *row,
                            collet_op_info *info, collet_error *err);

/* Lays a call out for one --dtype item (NULL: f32). SHAPE, DTYPE, INVALID: the text says what is
 * wanted. */
collet_status bench_layout_make(bench_layout *layout, const collet_runtime *runtime,
                                const bench_case *row, const bench_options *options,
                                const char *dtype, collet_error *err);

/* "compute" or "memory", which bounds a call of so many operations (bench_layout.flops). */
const char *bench_bound(double flops);

/* The dtype of a letter of ops.def, COLLET_DTYPE_NONE when there is none. */
collet_dtype bench_letter_dtype(char letter);

#endif
