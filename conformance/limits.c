/* SPDX-License-Identifier: Apache-2.0 */
/* The table of limits: maximum error of a backend's results.
 * Tests: tests/conformance/test_kit.c */
#include "kit.h"

#include <string.h>

/* A macro for each value of the column `check` of ops.def. EXACT gives an op its limits here. Ops
 * whose macro is empty need rows below; SUM and ELEMENTWISE have default limits further below. */
#define OTHER "other bits"
#define EXACT(op) {op, COLLET_DTYPE_NONE, "value", 0, OTHER},
#define SUM(op)
#define ULP(op)
#define NORM(op)
#define INVARIANT(op)
#define ELEMENTWISE(op)

#define BOTH(op, quantity, f32, f64, unit)                                                         \
    {op, COLLET_F32, quantity, f32, unit},                                                         \
    {                                                                                              \
        op, COLLET_F64, quantity, f64, unit                                                        \
    }

#define REAL(op, f32, f64, unit) BOTH(op, "value", f32, f64, unit)

/* f16 and bf16 are judged as f32 numbers, before they are rounded. */
#define FLOATS(op, f32, f64, unit)                                                                 \
    REAL(op, f32, f64, unit), {op, COLLET_F16, "value", f32, unit ", before it is rounded"},       \
    {                                                                                              \
        op, COLLET_BF16, "value", f32, unit ", before it is rounded"                               \
    }
#define INTEGERS(op)                                                                               \
    {op, COLLET_I64, "value", 0, "other bits"},                                                    \
    {                                                                                              \
        op, COLLET_U64, "value", 0, "other bits"                                                   \
    }

#define COLLET_OP(NAME, id, name, family, operands, rule, sigs, params, alias, split, check, ...)  \
    check(COLLET_OP_##NAME)
static const kit_limit limits[] = {
#include <collet/ops.def>
/* A result within a few ulp of f32 that is rounded to 16 bits has an error of little more than half
 * a 16-bit ulp. */
#define COLLET_ELEMENTWISE(NAME, id, name, inputs, result, kinds, limit, ...)                      \
    {COLLET_OP_##NAME, COLLET_F16, "value", limit > 0 ? 0.501 : 0, limit > 0 ? "ulp" : OTHER},     \
        {COLLET_OP_##NAME, COLLET_BF16, "value", limit > 0 ? 0.501 : 0,                            \
         limit > 0 ? "ulp" : OTHER},                                                               \
        {COLLET_OP_##NAME, COLLET_C64, "number", 0x1p-20, "of |y|"},                               \
        {COLLET_OP_##NAME, COLLET_C128, "number", 0x1p-49, "of |y|"},                              \
        {COLLET_OP_##NAME, COLLET_DTYPE_NONE, "value", limit, limit > 0 ? "ulp" : OTHER},
#include <collet/ops/elementwise.def>
    {COLLET_OP_FLOOR_DIVIDE, COLLET_DTYPE_NONE, "large quotient", 2, "ulp"},
    {COLLET_OP_ABS, COLLET_DTYPE_NONE, "magnitude", 2, "ulp"},
    {COLLET_OP_DIV, COLLET_C64, "quotient", 0x1p-21, "of |a / b|"},
    {COLLET_OP_DIV, COLLET_C128, "quotient", 0x1p-50, "of |a / b|"},
    {COLLET_OP_RECIPROCAL, COLLET_C64, "quotient", 0x1p-21, "of |1 / a|"},
    {COLLET_OP_RECIPROCAL, COLLET_C128, "quotient", 0x1p-50, "of |1 / a|"},
    {COLLET_OP_SIGN, COLLET_C64, "unit", 0x1p-21, "of 1"},
    {COLLET_OP_SIGN, COLLET_C128, "unit", 0x1p-50, "of 1"},
    FLOATS(COLLET_OP_SUM, 0x1p-22, 0x1p-50, "of the sum of magnitudes"),
    INTEGERS(COLLET_OP_SUM),
    FLOATS(COLLET_OP_PROD, 0x1p-23, 0x1p-52, "of |product|, f64: of N |product|"),
    INTEGERS(COLLET_OP_PROD),
    FLOATS(COLLET_OP_MEAN, 0x1p-22, 0x1p-50, "of mean |x|"),
    FLOATS(COLLET_OP_VAR, 0x1p-21, 0x1p-49, "of the variance + (2^-50 mean |x|)^2"),
    FLOATS(COLLET_OP_STD, 0x1p-21, 0x1p-49, "of the deviation + 2^-50 mean |x|"),
    REAL(COLLET_OP_DOT, 0x1p-22, 0x1p-50, "of sum |a b|"),
    REAL(COLLET_OP_MATVEC, 0x1p-22, 0x1p-50, "of sum |a b|"),
    REAL(COLLET_OP_MATMUL, 0x1p-20, 0x1p-49, "of sum |a b|"),
    {COLLET_OP_MATMUL, COLLET_F16, "value", 0x1p-20, "of sum |a b|, before it is rounded"},
    {COLLET_OP_MATMUL, COLLET_BF16, "value", 0x1p-20, "of sum |a b|, before it is rounded"},
    {COLLET_OP_MATMUL, COLLET_I32, "value", 0, "other bits"},
    {COLLET_OP_LU, COLLET_DTYPE_NONE, "residual", 1, "of (k + 4) u |L| |U|"},
    {COLLET_OP_LU, COLLET_DTYPE_NONE, "info", 0, "off"},
    {COLLET_OP_SOLVE, COLLET_DTYPE_NONE, "backward error", 8, "of n u (|A| |x| + |b|)"},
    {COLLET_OP_SOLVE, COLLET_DTYPE_NONE, "info", 0, "off"},
    {COLLET_OP_QR, COLLET_DTYPE_NONE, "residual", 4, "of (m + 4) u |a_j|, a column's"},
    {COLLET_OP_QR, COLLET_DTYPE_NONE, "orthogonality", 4, "of (m + 4) u, |Q^H Q - 1| / sqrt k"},
    {COLLET_OP_SVD, COLLET_DTYPE_NONE, "residual", 10, "of max(m, n) u |A|"},
    {COLLET_OP_SVD, COLLET_DTYPE_NONE, "orthogonality", 10, "of max(m, n) u, |Q^H Q - 1| / sqrt k"},
    {COLLET_OP_SVD, COLLET_DTYPE_NONE, "values", 10, "of (m + n) u |A|"},
    {COLLET_OP_SVD, COLLET_DTYPE_NONE, "info", 0, "off"},
    {COLLET_OP_EIGH, COLLET_DTYPE_NONE, "residual", 10, "of n u |A|"},
    {COLLET_OP_EIGH, COLLET_DTYPE_NONE, "orthogonality", 10, "of n u, |V^H V - 1| / sqrt n"},
    {COLLET_OP_EIGH, COLLET_DTYPE_NONE, "values", 10, "of n u |A|"},
    {COLLET_OP_EIGH, COLLET_DTYPE_NONE, "info", 0, "off"},
    {COLLET_OP_EIG, COLLET_DTYPE_NONE, "residual", 10, "of n u |A|"},
    {COLLET_OP_EIG, COLLET_DTYPE_NONE, "length", 10, "of n u, | |v| - 1 |"},
    {COLLET_OP_EIG, COLLET_DTYPE_NONE, "trace", 10, "of n sqrt n u |A|, sum of the values"},
    {COLLET_OP_EIG, COLLET_DTYPE_NONE, "square", 10, "of n u |A|^2, sum of their squares"},
    {COLLET_OP_EIG, COLLET_DTYPE_NONE, "pairs", 0,
     "numbers of a real matrix that are not exact conjugate pairs"},
    {COLLET_OP_EIG, COLLET_DTYPE_NONE, "info", 0, "off"},
    {COLLET_OP_CHOLESKY, COLLET_DTYPE_NONE, "residual", 1, "of (n + 4) u |L| |L^H|"},
    {COLLET_OP_CHOLESKY, COLLET_DTYPE_NONE, "info", 0, "off"},
    {COLLET_OP_NORMAL, COLLET_DTYPE_NONE, "value", 4, "ulp"},
    {COLLET_OP_EXPONENTIAL, COLLET_DTYPE_NONE, "value", 4, "ulp"},
    {COLLET_OP_VARIATE, COLLET_F64, "value", 0x1p-44, "of |value|, log_gamma: of 1 + |value|"},
    {COLLET_OP_VARIATE, COLLET_I64, "value", 0, "other bits"},
    {COLLET_OP_FFT, COLLET_DTYPE_NONE, "error", 1, "of eps (1 + log2 N) in the norm"},
    {COLLET_OP_COM, COLLET_F64, "com", 1e-14, "of sum |m r| / sum m"},
    {COLLET_OP_COM, COLLET_F32, "com", 0x1p-22, "of |com| + R"},
    BOTH(COLLET_OP_INERTIA, "inertia", 0x1p-19, 1e-13, "of sum m d.d"),
    {COLLET_OP_CROSS_SUM, COLLET_F64, "sum", 1e-13, "of sum |w| |d| |v|"},
    {COLLET_OP_CROSS_SUM, COLLET_F32, "sum", 0x1p-20, "of sum |w| |v| (|d| + 2 R)"},
    {COLLET_OP_PRINCIPAL_AXES, COLLET_F64, "residual", 1e-14,
     "of the matrix's norm, ||A v - l v||"},
    {COLLET_OP_PRINCIPAL_AXES, COLLET_F64, "orthogonality", 1e-14, "of V^T V - 1 and det V - 1"},
    {COLLET_OP_PRINCIPAL_AXES, COLLET_F64, "order", 0, "moments not ascending"},
    {COLLET_OP_PRINCIPAL_AXES, COLLET_F64, "signs", 0, "axes of the wrong sign"},
    {COLLET_OP_EULER_ZYZ, COLLET_F64, "value", 4, "ulp"},
    {COLLET_OP_EULER_ZYZ, COLLET_F64, "rotation", 1e-14, "of R rebuilt, where theta is 0 or pi"},
    {COLLET_OP_TILT, COLLET_F64, "value", 4e-15, "of 90 degrees"},
    {COLLET_OP_ANGULAR_VELOCITY, COLLET_F64, "residual", 1e-14,
     "|I omega - L| of |I| |omega| + |L|"},
    {COLLET_OP_ANGULAR_VELOCITY, COLLET_F64, "minimum norm", 1e-13,
     "of |L| / smallest moment, I singular"},
    {COLLET_OP_ANGULAR_VELOCITY, COLLET_F64, "info", 0, "off"},
    {COLLET_OP_DECOMPOSE, COLLET_F64, "value", 4e-15, "of |v|"},
    {COLLET_OP_MAGNITUDE, COLLET_F64, "value", 4, "ulp"},
    {COLLET_OP_TIME_DERIVATIVE, COLLET_F64, "value", 1e-15, "of (|x1| + |x0|) / |t1 - t0|"},
    {COLLET_OP_TIME_DERIVATIVE, COLLET_F64, "info", 0, "off"},
    BOTH(COLLET_OP_KINETIC, "energy", 0x1p-17, 1e-13, "of the largest term"),
    BOTH(COLLET_OP_GYRATION, "radius", 0x1p-18, 1e-13, "of the radius"),
    BOTH(COLLET_OP_GYRATION, "tensor", 0x1p-18, 1e-13, "of sum m d.d / sum m"),
    BOTH(COLLET_OP_GYRATION, "asphericity", 0x1p-15, 1e-12, "of 1"),
    {COLLET_OP_RMSD, COLLET_F64, "value", 1e-13, "of sum w (x.x + y.y), squares"},
    {COLLET_OP_RMSD, COLLET_F64, "optimality", 1e-13, "of sum w (x.x + y.y)"},
    {COLLET_OP_RMSD, COLLET_F64, "rotation", 1e-14, "of R^T R - 1 and det R - 1"},
    {COLLET_OP_OBSERVABLES, COLLET_F64, "com", 1e-14, "of sum |m r| / sum m"},
    {COLLET_OP_OBSERVABLES, COLLET_F32, "com", 0x1p-22, "of |com| + R"},
    BOTH(COLLET_OP_OBSERVABLES, "inertia", 0x1p-19, 1e-13, "of sum m d.d"),
    {COLLET_OP_OBSERVABLES, COLLET_F64, "sum", 1e-13, "of sum |w| |d| |v|"},
    {COLLET_OP_OBSERVABLES, COLLET_F32, "sum", 0x1p-20, "of sum |w| |v| (|d| + 2 R)"},
    BOTH(COLLET_OP_OBSERVABLES, "energy", 0x1p-17, 1e-13, "of the largest term"),
    REAL(COLLET_OP_SCATTER_EULER, 0x1p-20, 0x1p-49, "of the volume fraction"),
    REAL(COLLET_OP_SCATTER_VECTOR, 0x1p-21, 0x1p-50, "of the volume fraction"),
    REAL(COLLET_OP_SCATTER_POLARISATION, 0x1p-20, 0x1p-49, "of sum |f n e|"),
    {COLLET_OP_SCATTER_EWALD, COLLET_DTYPE_NONE, "position", 1, "of the rounding of k^2 - q^2"},
    REAL(COLLET_OP_SCATTER_PROJECTION, 0x1p-18, 0x1p-47, "of the sum of squares"),
    REAL(COLLET_OP_SCATTER_SLICES, 0x1p-20, 0x1p-48, "of sum |a w|"),
    REAL(COLLET_OP_SCATTER_IMAGES, 0x1p-18, 0x1p-47, "of the sum of squares"),
    REAL(COLLET_OP_SCATTER_AMPLITUDES, 0x1p-20, 0x1p-48, "of sum |a w|"),
    REAL(COLLET_OP_SCATTER_INTENSITIES, 0x1p-18, 0x1p-47, "of the sum of squares"),
    REAL(COLLET_OP_SCATTER_AVERAGE, 0x1p-20, 0x1p-42, "of the mean of |w I|"),
    {COLLET_OP_TERNARY_QUANTIZE, COLLET_DTYPE_NONE, "value", 0, "other bits"},
    REAL(COLLET_OP_CUMULATIVE_SUM, 0x1p-23, 0x1p-52, "of the sum of magnitudes, f64: N times it"),
    INTEGERS(COLLET_OP_CUMULATIVE_SUM),
    REAL(COLLET_OP_CUMULATIVE_PROD, 0x1p-23, 0x1p-52, "of |product|, f64: of N |product|"),
    INTEGERS(COLLET_OP_CUMULATIVE_PROD),
    {COLLET_OP_HISTOGRAM, COLLET_F64, "value", 0x1p-53, "of N sum |w|"},
    {COLLET_OP_HISTOGRAM, COLLET_I64, "value", 0, "other bits"},
    {COLLET_OP_PARTITION, COLLET_DTYPE_NONE, "order", 0, "elements"},
    {COLLET_OP_TERNARY_QUANTIZE, COLLET_F32, "scale", 0x1p-23, "of mean |v|"},
    {COLLET_OP_TERNARY_MATMUL, COLLET_I32, "value", 0, "other bits"},
    {COLLET_OP_TERNARY_MATMUL, COLLET_F32, "value", 0x1p-20, "of sum |x|"},
    {COLLET_OP_TERNARY_LINEAR, COLLET_DTYPE_NONE, "value", 0, "other bits"},
    {COLLET_OP_TERNARY_LINEAR, COLLET_F32, "sum", 0x1p-20, "of |scale| sum |x| + |bias|"},
};

/* Sums without rows above. */
#undef EXACT
#undef SUM
#define EXACT(op)
#define SUM(op) REAL(op, 0x1p-23, 0x1p-50, "of the sum of magnitudes"),
#define COLLET_OP(NAME, id, name, family, operands, rule, sigs, params, alias, split, check, ...)  \
    check(COLLET_OP_##NAME)
static const kit_limit sums[] = {
#include <collet/ops.def>
};

static const kit_limit *nth_of(const kit_limit *table, size_t count, uint32_t op, size_t index)
{
    for (size_t i = 0; i < count; i++)
        if (table[i].op == op && index-- == 0)
            return &table[i];
    return NULL;
}

const kit_limit *kit_limit_at(uint32_t op, size_t index)
{
    const size_t own = sizeof limits / sizeof *limits;
    return nth_of(limits, own, op, 0) ? nth_of(limits, own, op, index)
                                      : nth_of(sums, sizeof sums / sizeof *sums, op, index);
}

static const kit_limit *look_up(uint32_t op, collet_dtype dtype, const char *quantity)
{
    const kit_limit *l;
    for (size_t i = 0; (l = kit_limit_at(op, i)); i++)
        if (!strcmp(l->quantity, quantity) && (l->dtype == dtype || l->dtype == COLLET_DTYPE_NONE))
            return l;
    return NULL;
}

const kit_limit *kit_limit_find(uint32_t op, collet_dtype dtype, const char *quantity)
{
    /* Judges look up the same limit for each element. */
    static _Thread_local struct {
        const kit_limit *limit;
        uint32_t op;
        collet_dtype dtype;
        const char *quantity;
    } last;
    if (!last.limit || last.op != op || last.dtype != dtype || last.quantity != quantity) {
        last.limit = look_up(op, dtype, quantity);
        last.op = op;
        last.dtype = dtype;
        last.quantity = quantity;
    }
    return last.limit;
}
