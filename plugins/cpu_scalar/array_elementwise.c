/* SPDX-License-Identifier: Apache-2.0 */
/* array: elementwise ops.
 * Tests: conformance/array/arithmetic.c, conformance/array/functions.c,
 * tests/cpu_scalar/test_kernels_scalar.c */
#include "device.h"

#include <math.h>

#include "shared/host/array/complex.h"
#include "shared/host/util/convert.h"
#include "shared/host/util/half.h"
#include "shared/host/util/rows.h"

typedef void (*row_fn)(char *const *at, const int64_t *step, int64_t n);

#define NAME(x) f32_##x
#define TYPE float
#define REAL float
#define LOAD(x) (x)
#define STORE(x) (x)
#include "array_elementwise.inc"

#define NAME(x) f64_##x
#define TYPE double
#define REAL double
#define LOAD(x) (x)
#define STORE(x) (x)
#include "array_elementwise.inc"

#define NAME(x) f16_##x
#define TYPE uint16_t
#define REAL float
#define LOAD(x) ((float)cpu_f16_to(x))
#define STORE(x) cpu_f16_from((double)(x))
#include "array_elementwise.inc"

#define NAME(x) bf16_##x
#define TYPE uint16_t
#define REAL float
#define LOAD(x) ((float)cpu_bf16_to(x))
#define STORE(x) cpu_bf16_from((double)(x))
#include "array_elementwise.inc"

/* The exponent of the larger part: scaled by it a number is neither close to overflow nor to
 * underflow. */
static int exponent(collet_c128 a)
{
    int e;
    (void)frexp(fmax(fabs(a.re), fabs(a.im)), &e);
    return e;
}

static collet_c128 scaled(collet_c128 a, int e)
{
    return (collet_c128){ldexp(a.re, e), ldexp(a.im, e)};
}

static collet_c128 quotient(collet_c128 a, collet_c128 b)
{
    int finite = isfinite(a.re) && isfinite(a.im) && isfinite(b.re) && isfinite(b.im);
    if (!finite || (b.re == 0.0 && b.im == 0.0))
        return cpu_special_quotient(a, b);
    int p = exponent(a), q = exponent(b);
    a = scaled(a, -p);
    b = scaled(b, -q);
    double square = b.re * b.re + b.im * b.im;
    collet_c128 ratio = {(a.re * b.re + a.im * b.im) / square,
                         (a.im * b.re - a.re * b.im) / square};
    return scaled(ratio, p - q);
}

#define NAME(x) c64_##x
#define TYPE collet_c64
#define REAL float
#include "array_complex.inc"

#define NAME(x) c128_##x
#define TYPE collet_c128
#define REAL double
#include "array_complex.inc"

#define FLOATS(x)                                                                                  \
    [COLLET_F16] = f16_##x, [COLLET_BF16] = bf16_##x, [COLLET_F32] = f32_##x, [COLLET_F64] = f64_##x
#define COMPLEX(x) [COLLET_C64] = c64_##x, [COLLET_C128] = c128_##x

/* [op][type of input 0] */
static const row_fn rows[][COLLET_DTYPE_COUNT] = {
    [COLLET_OP_ADD] = {FLOATS(add), COMPLEX(add)},
    [COLLET_OP_SUB] = {FLOATS(sub), COMPLEX(sub)},
    [COLLET_OP_MUL] = {FLOATS(mul), COMPLEX(mul)},
    [COLLET_OP_DIV] = {FLOATS(div), COMPLEX(div)},
    [COLLET_OP_ABS] = {FLOATS(abs), COMPLEX(abs)},
    [COLLET_OP_CONJ] = {COMPLEX(conj)},
    [COLLET_OP_NEG] = {FLOATS(neg)},
    [COLLET_OP_EXP] = {FLOATS(exp)},
    [COLLET_OP_LOG] = {FLOATS(log)},
    [COLLET_OP_SQRT] = {FLOATS(sqrt)},
    [COLLET_OP_SIN] = {FLOATS(sin)},
    [COLLET_OP_COS] = {FLOATS(cos)},
    [COLLET_OP_TANH] = {FLOATS(tanh)},
};

/* All operands have the output's shape. */
KERNEL(elementwise)
{
    row_fn row = rows[call->op][operand_of(call, 1)->dtype];
    cpu_rows walk = {0};
    for (uint32_t i = 0; i < call->n_out + call->n_in; i++)
        cpu_rows_view(&walk, operand_of(call, i));
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        row(walk.at, walk.inner, walk.length);
    return COLLET_OK;
}

/* Two roundings, so that every backend gives the same bits. */
static void f32_axpy(const cpu_rows *w, float alpha)
{
    for (int64_t i = 0; i < w->length; i++) {
        float product = alpha * *(float *)(void *)(w->at[1] + i * w->inner[1]);
        *(float *)(void *)(w->at[0] + i * w->inner[0]) =
            product + *(float *)(void *)(w->at[2] + i * w->inner[2]);
    }
}

static void f64_axpy(const cpu_rows *w, double alpha)
{
    for (int64_t i = 0; i < w->length; i++) {
        double product = alpha * *(double *)(void *)(w->at[1] + i * w->inner[1]);
        *(double *)(void *)(w->at[0] + i * w->inner[0]) =
            product + *(double *)(void *)(w->at[2] + i * w->inner[2]);
    }
}

KERNEL(axpy)
{
    const collet_axpy_params *params = call->params;
    collet_scalar alpha;
    collet_dtype dtype = operand_of(call, 0)->dtype;
    cpu_convert((char *)alpha.value.bytes, dtype, 0, (const char *)params->alpha.value.bytes,
                params->alpha.dtype, 0, 1);
    cpu_rows walk = {0};
    for (uint32_t i = 0; i < 3; i++)
        cpu_rows_view(&walk, operand_of(call, i));
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk)) {
        if (dtype == COLLET_F32)
            f32_axpy(&walk, alpha.value.f32);
        else
            f64_axpy(&walk, alpha.value.f64);
    }
    return COLLET_OK;
}
