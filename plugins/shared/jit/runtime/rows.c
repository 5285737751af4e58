/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/jit/test_jit_rows.c, tests/opencl/test_opencl_driver.c */
#include "rows.h"

#include "launch.h"

static collet_dtype dtype_at(uint64_t sig, uint32_t i)
{
    return (collet_dtype)(sig >> i * COLLET_SIG_BITS & ((1u << COLLET_SIG_BITS) - 1));
}

/* Whether the op only moves bits, and so needs no arithmetic of the dtype. */
static int moves(uint32_t op, uint64_t sig)
{
    static const uint32_t ops[] = {
        COLLET_OP_FILL,         COLLET_OP_TRANSPOSE, COLLET_OP_FFTSHIFT,
        COLLET_OP_SORT,         COLLET_OP_ARGSORT,   COLLET_OP_PARTITION,
        COLLET_OP_SEARCHSORTED, COLLET_OP_TAKE,      COLLET_OP_TAKE_ALONG_AXIS,
        COLLET_OP_PUT,          COLLET_OP_COMPRESS,  COLLET_OP_PLACE,
        COLLET_OP_NONZERO};
    for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (op == ops[i])
            return 1;
    return op == COLLET_OP_COPY && dtype_at(sig, 0) == dtype_at(sig, 1);
}

static int needs_f64(uint64_t sig)
{
    for (uint32_t i = 0; i < COLLET_MAX_OPERANDS; i++)
        if (dtype_at(sig, i) == COLLET_F64 || dtype_at(sig, i) == COLLET_C128)
            return 1;
    return 0;
}

static int has_f32(uint64_t sig)
{
    const uint32_t floats =
        1u << COLLET_F16 | 1u << COLLET_BF16 | 1u << COLLET_F32 | 1u << COLLET_C64;
    for (uint32_t i = 0; i < COLLET_MAX_OPERANDS; i++)
        if (floats >> dtype_at(sig, i) & 1)
            return 1;
    return 0;
}

/* Whether the op divides numbers of f32 or takes their roots, itself or in an elementary
 * function. */
static int needs_exact_f32(uint32_t op, uint64_t sig)
{
    switch (op) {
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, kinds, ulp, ...)                        \
    case COLLET_OP_##NAME:                                                                         \
        if ((ulp) > 0)                                                                             \
            return has_f32(sig);                                                                   \
        break;
#include <collet/ops/elementwise.def>
    }
    static const uint32_t exact[] = {COLLET_OP_DIV,           COLLET_OP_SQRT,
                                     COLLET_OP_ABS,           COLLET_OP_SIGN,
                                     COLLET_OP_RECIPROCAL,    COLLET_OP_FLOOR_DIVIDE,
                                     COLLET_OP_NORMAL,        COLLET_OP_EXPONENTIAL,
                                     COLLET_OP_TERNARY_QUANTIZE, COLLET_OP_TERNARY_LINEAR};
    for (uint32_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (op == exact[i])
            return has_f32(sig);
    return 0;
}

/* Whether the op computes in f64: the ops listed here do so for every floating dtype, histogram for all dtypes. */
static int computes_f64(uint32_t op, uint64_t sig)
{
    static const uint32_t ops[] = {COLLET_OP_PROD, COLLET_OP_VAR, COLLET_OP_STD,
                                   COLLET_OP_CUMULATIVE_SUM, COLLET_OP_CUMULATIVE_PROD};
    for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (op == ops[i])
            return has_f32(sig);
    return op == COLLET_OP_HISTOGRAM;
}

int jit_row_runs(const struct jit_traits *t, uint32_t op, uint64_t sig)
{
    if (t->has_f64 || moves(op, sig))
        return 1;
    return !needs_f64(sig) && !computes_f64(op, sig) && (t->exact_f32 || !needs_exact_f32(op, sig));
}
