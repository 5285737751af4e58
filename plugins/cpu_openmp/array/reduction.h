/* SPDX-License-Identifier: Apache-2.0 */
/* reduction.h - chooses the kernels of a reduction, converts its elements and stores its results. Also reduces
 * single small blocks without the plan of reduce.c, because planning would take longer than reducing the block. */
#pragma once

#include <collet/plugin.h>

#include "cpu_openmp/array/kernels/kernel_convert.h"
#include "cpu_openmp/array/kernels/kernel_move.h"
#include "cpu_openmp/array/kernels/kernel_reduce.h"

/* Up to this number of rows, one loop over the columns is faster than a loop along each column. */
#define REDUCE_FEW_ROWS 16

/* The number of elements of a row that are reduced at a time. */
#define REDUCE_BLOCK (16 << 10)

/* Sums of at least this many elements add groups of elements in f32, if that is exact enough (method_narrow). */
#define REDUCE_NARROW 128

typedef enum result_kind {
    RESULT_SUM,      /* (result + lost) / divisor */
    RESULT_ROOT,     /* the square root of a RESULT_SUM */
    RESULT_NUMBER,   /* a double */
    RESULT_WORD,     /* an integer modulo 2^64, after the exclusive or with about.bits */
    RESULT_COUNT,    /* an integer */
    RESULT_POSITIVE, /* whether an integer is not 0 */
    RESULT_EQUAL     /* whether an integer equals `all` */
} result_kind;

typedef struct method {
    const reduction *kernel;
    const reduction *join; /* combines results of `kernel`, which it reads as elements */
    reduce_about about;
    collet_dtype from;   /* the dtype of the elements */
    collet_dtype to;     /* the kernel's dtype: differs from `from` if elements are converted first */
    convert_run convert; /* converts adjacent elements; NULL: there is no vector loop */
    /* Copies elements that are not adjacent (kernel_move.h); NULL: kernels are as fast without the copy. */
    void (*gather)(char *out, int64_t out_step, const char *in, int64_t in_step, int64_t n);
    double first;        /* the result of an empty reduction, or its bits */
    result_kind kind;
    double divisor;
    int64_t all;
} method;

/* Sets *m to the method by which `op` reduces `count` elements of dtype `from`. `op` is the COLLET_OP_ of a
 * reduction; pass MIN for ARGMIN and MAX for ARGMAX. The divisor becomes `count`, but 1 for SUM. For VAR and STD
 * the method is the sum of squares, and the caller sets about.center and the divisor. */
void method_choose(method *m, const collet_device *device, uint32_t op, collet_dtype from,
                   int64_t count);

/* Changes a sum of f32 to kernels that add groups of elements in f32; the result must be stored as f32 or narrower.
 * Returns 1, or 0 for a reduction that is not a sum of f32. */
int method_narrow(method *m, const collet_device *device);

/* Call the functions of m->kernel, after conversion where needed. `about`: m->about, with `center` set for VAR, STD. */
void method_run(const method *m, const reduce_about *about, double *result, double *lost,
                const char *in, int64_t step, int64_t n);
void method_columns(const method *m, const reduce_about *about, double *result, double *lost,
                    const char *in, int64_t row_step, int64_t column_step, int64_t rows,
                    int64_t columns);

/* Stores n results as elements of dtype `to`, `step` bytes apart. */
void method_store(const method *m, char *out, collet_dtype to, int64_t step, const double *result,
                  const double *lost, int64_t n);

/* Reduces rows of adjacent elements. */
typedef struct row_method {
    method method;
    method exact;  /* if `narrow`: used when a partial sum has left the range of f32 */
    method mean;   /* if `centered` */
    int narrow;
    int centered;  /* the squared distances from the mean are summed */
    collet_dtype to; /* the dtype of the results */
} row_method;

/* Whether the op is a reduction. */
int row_method_has(uint32_t op);

/* The longest rows: a longer row consists of several chunks. */
#define ROW_LIMIT (4 * REDUCE_BLOCK)

/* Prepares the reduction by `op` of rows of `length` elements of dtype `from`, at most ROW_LIMIT; `correction`: the
 * parameter of VAR and STD. */
void row_method_choose(row_method *r, const collet_device *device, uint32_t op, collet_dtype from,
                       collet_dtype to, int64_t length, double correction);

/* Reduces `rows` adjacent rows. Stores their results, for method_store; `center` has room for `rows` numbers. `all`: the
 * number of rows of the whole reduction, which decides the order in which the elements of short rows are added. The
 * results are bitwise equal to the results of reduce_run. */
void row_method_run(const row_method *r, double *result, double *lost, double *center,
                    const char *in, int64_t length, int64_t rows, int64_t all);

/* Whether the distances from the mean are summed. */
static inline int reduce_has_center(uint32_t op)
{
    return op == COLLET_OP_VAR || op == COLLET_OP_STD;
}

/* The divisor of VAR and STD: `count` minus the correction, at least 0. */
static inline double reduce_divisor(int64_t count, double correction)
{
    double divisor = (double)count - correction;
    return divisor > 0.0 ? divisor : 0.0;
}

/* The number of elements of a call that reduces at most REDUCE_BLOCK adjacent elements to one result; else 0. */
int64_t reduce_block_length(const collet_kernel_call *call);

/* Runs such a call; the result is bitwise equal to the result of reduce_run. */
void reduce_block(const collet_device *device, const collet_kernel_call *call, int64_t count);
