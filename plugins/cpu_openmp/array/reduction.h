/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reduction.h - which kernels run a reduction of elements of one dtype, and what its results become; reductions of one
 * block, without the plan of reduce.c, which takes longer than a small block.
 */
#ifndef PLUGINS_CPU_OPENMP_ARRAY_REDUCTION_H
#define PLUGINS_CPU_OPENMP_ARRAY_REDUCTION_H

#include <collet/plugin.h>

#include "kernel_convert.h"
#include "kernel_move.h"
#include "kernel_reduce.h"

/* Elements of a row that are reduced at a time. */
#define REDUCE_BLOCK (16 << 10)

/* Elements from which on sums are formed in f32 where that is exact enough. */
#define REDUCE_NARROW 128

typedef enum result_kind {
    RESULT_SUM,      /* a sum and its lost part, over the divisor */
    RESULT_ROOT,     /* the root of that */
    RESULT_NUMBER,   /* a double */
    RESULT_WORD,     /* an integer modulo 2^64, after the exclusive or with about.bits */
    RESULT_COUNT,    /* an integer */
    RESULT_POSITIVE, /* whether an integer is not 0 */
    RESULT_EQUAL     /* whether an integer is `all` */
} result_kind;

typedef struct method {
    const reduction *kernel;
    const reduction *join; /* combines results with others as if these were elements */
    reduce_about about;
    collet_dtype from;   /* of the elements */
    collet_dtype to;     /* the kernel's dtype: it differs if elements are converted first */
    convert_run convert; /* of adjacent elements; NULL: there is no vector loop */
    /* Copies elements that are not adjacent (kernel_move.h); NULL: kernels read them where they are as fast. */
    void (*gather)(char *out, int64_t out_step, const char *in, int64_t in_step, int64_t n);
    double first;        /* the result of no elements, or its bits */
    result_kind kind;
    double divisor;
    int64_t all;
} method;

/* How `op` (a COLLET_OP_ of a reduction, MIN for ARGMIN and MAX for ARGMAX) reduces `count` elements
 * of dtype `from`. The divisor is `count`, and 1 for SUM. VAR and STD: the sum of squares; the
 * caller sets about.center and the divisor. */
void method_choose(method *m, const collet_device *device, uint32_t op, collet_dtype from,
                   int64_t count);

/* Lets a sum of f32 add some of its terms in f32; its result must be stored as f32 or narrower. Returns 1, or
 * 0 for a reduction that is not a sum of f32. */
int method_narrow(method *m, const collet_device *device);

/* reduction.run and reduction.columns of any elements; `about` is m->about with a center. */
void method_run(const method *m, const reduce_about *about, double *result, double *lost,
                const char *in, int64_t step, int64_t n);
void method_columns(const method *m, const reduce_about *about, double *result, double *lost,
                    const char *in, int64_t row_step, int64_t column_step, int64_t rows,
                    int64_t columns);

/* Stores n results as elements of dtype `to`, `step` bytes apart. */
void method_store(const method *m, char *out, collet_dtype to, int64_t step, const double *result,
                  const double *lost, int64_t n);

/* Whether the distances from the mean are summed. */
static inline int reduce_has_center(uint32_t op)
{
    return op == COLLET_OP_VAR || op == COLLET_OP_STD;
}

/* By what the sum of their squares is divided; 0 if nothing is left of `count` elements. */
static inline double reduce_divisor(const collet_kernel_call *call, int64_t count)
{
    const collet_variance_params *params = call->params;
    double divisor = (double)count - params->correction;
    return divisor > 0.0 ? divisor : 0.0;
}

/* The number of elements if they are adjacent, all become one result, and are at most REDUCE_BLOCK; else 0. */
int64_t reduce_block_length(const collet_kernel_call *call);

/* Reduces them; the result has the bits of reduce_run. */
void reduce_block(const collet_device *device, const collet_kernel_call *call, int64_t count);

#endif
