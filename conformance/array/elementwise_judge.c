/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/conformance/test_truth.c, tests/conformance/defects.sh */
#include "elementwise_judge.h"

#include <complex.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "truth.h"
#include "vectors.h"

/* ---- Real results, and exact complex results ---------------------------------------------------- */

static collet_dtype dtype_of(const kit_case *c)
{
    return kit_in(c, c->row->info.n_in - 1)->dtype;
}

/* floor_divide is exact if the quotient has at least two bits fewer than the dtype; for larger
 * quotients a / b may be rounded twice. */
static bool large_quotient(const kit_case *c, long double y)
{
    collet_dtype dtype = c->operand[0].dtype;
    return c->row->info.id == COLLET_OP_FLOOR_DIVIDE && kit_precision(dtype) > 11 && isfinite(y) &&
           fabsl(y) >= ldexpl(1, kit_precision(dtype) - 2);
}

static void judge_exact(const kit_case *c, kit_verdict *v)
{
    const kit_tensor *out = &c->operand[0];
    collet_dtype part = kit_part(out->dtype);
    size_t size = collet_dtype_size(part);
    int64_t parts = part == out->dtype ? 1 : 2;
    unsigned char ideal[16];
    for (int64_t i = 0; i < out->count; i++) {
        char *at[4] = {(char *)ideal};
        for (uint32_t k = 0; k < c->row->info.n_in; k++) {
            const kit_tensor *in = kit_in(c, k);
            int64_t from = kit_source(c, k, i) * (kit_part(in->dtype) == in->dtype ? 1 : 2);
            at[k + 1] = (char *)(uintptr_t)kit_at(in, from);
        }
        truth_exact(c->row->info.id, dtype_of(c), at);
        if (large_quotient(c, kit_value(part, ideal))) {
            kit_within_ulp(c, v, 0, i, kit_value(part, ideal),
                           kit_limit_find(COLLET_OP_FLOOR_DIVIDE, part, "large quotient"));
            continue;
        }
        for (int64_t p = 0; p < parts; p++)
            kit_same(c, v, 0, i * parts + p, ideal + (size_t)p * size, false);
    }
}

/* Near their zeros, logaddexp and lgamma subtract nearly equal numbers. So the limit of logaddexp
 * is in ulp of the result or of the largest argument, and the limit of lgamma in ulp of the result
 * or of 1, whichever is larger. */
static long double ulp_at(uint32_t op, collet_dtype dtype, long double y, const long double x[3])
{
    long double size = fabsl(y);
    if (op == COLLET_OP_LOGADDEXP)
        size = fmaxl(size, fmaxl(fabsl(x[0]), fabsl(x[1])));
    return kit_ulp(dtype, op == COLLET_OP_LGAMMA ? fmaxl(size, 1) : size);
}

/* A zero must have the sign of the exact value, which may be nonzero but too small for the dtype. */
static void check_zero(const kit_case *c, kit_verdict *v, int64_t part, long double y)
{
    char where[128], number[64], of[3 * 2 * 66] = "";
    if (v->failed || kit_get(&c->operand[0], part) != 0 || isnan(y) ||
        signbit(kit_get(&c->operand[0], part)) == signbit(y))
        return;
    kit_where(c, 0, part, where);
    int64_t halves = kit_parts(&c->operand[0]) / c->operand[0].count;
    for (uint32_t k = 0; k < c->row->info.n_in; k++)
        for (int64_t p = 0; p < halves; p++) {
            kit_format(kit_in(c, k), halves * kit_source(c, k, part / halves) + p, number);
            snprintf(of + strlen(of), sizeof of - strlen(of), "%s%s", of[0] ? ", " : "", number);
        }
    kit_fail(v, "%s: expected %s at (%s), got a zero of the other sign", where,
             y != 0       ? "a number too small for the dtype"
             : signbit(y) ? "-0"
                          : "+0",
             of);
}

/* False: a zero of this function may have either sign, because the function is a sum, or because
 * its exact zero lies between two numbers of the dtype. */
static bool zeros_have_signs(uint32_t op)
{
    return op != COLLET_OP_LOGADDEXP && op != COLLET_OP_SINC && op != COLLET_OP_LGAMMA;
}

static void judge_near(const kit_case *c, kit_verdict *v, int64_t i, const long double x[3],
                       long double y)
{
    uint32_t op = c->row->info.id;
    collet_dtype dtype = c->operand[0].dtype;
    const kit_limit *limit = kit_limit_find(op, dtype, "value");
    if ((op == COLLET_OP_LOGADDEXP || (op == COLLET_OP_LGAMMA && fabsl(y) < 1)) && isfinite(y))
        kit_near(c, v, 0, i, y, ulp_at(op, dtype, y, x), limit);
    else
        kit_within_ulp(c, v, 0, i, y, limit);
    if (zeros_have_signs(op))
        check_zero(c, v, i, y);
}

/* ---- Complex quotients and magnitudes --------------------------------------------------------- */

/* Checks a part of a quotient: the error may be as large as the limit of the whole quotient, or as the smallest
 * positive number. */
static void near_quotient(const kit_case *c, kit_verdict *v, int64_t i, long double ideal,
                          long double size)
{
    collet_dtype dtype = c->operand[0].dtype;
    const kit_limit *limit = kit_limit_find(c->row->info.id, dtype, "quotient");
    long double top = dtype == COLLET_C64 ? 0x1p128L : 0x1p1024L;
    long double smallest = kit_ulp(kit_part(dtype), 0) / (long double)limit->limit;
    /* If the value is this close to the largest number of the dtype, infinity is within the limit, too. The limit is
     * relative to the whole quotient, which may be far larger than this part. */
    long double margin = fmaxl(top * 0x1p-20L, size * (long double)limit->limit);
    if (isfinite(ideal) && fabsl(fabsl(ideal) - top) <= margin)
        return;
    if (isfinite(ideal) && fabsl(ideal) >= top)
        ideal = copysignl((long double)INFINITY, ideal);
    kit_near(c, v, 0, i, ideal, size > smallest ? size : smallest, limit);
}

static long double sign_if_infinite(long double x)
{
    return copysignl(isinf(x) ? 1 : 0, x);
}

/* The quotient a / b: as docs/KERNELS.md defines it if b is 0 or an operand is not finite; otherwise the
 * compiler's quotient in long double, whose range is large enough. */
static long double _Complex quotient(const long double x[4])
{
    const long double infinity = (long double)INFINITY;
    long double re = x[0], im = x[1], c = x[2], d = x[3];
    bool a_finite = isfinite(re) && isfinite(im), b_finite = isfinite(c) && isfinite(d);
    if (c == 0 && d == 0)
        return __builtin_complex(re * copysignl(infinity, c), im * copysignl(infinity, c));
    if (a_finite && b_finite)
        return __builtin_complex(re, im) / __builtin_complex(c, d);
    if (b_finite && (isinf(re) || isinf(im))) {
        re = sign_if_infinite(re);
        im = sign_if_infinite(im);
        return __builtin_complex(infinity * (re * c + im * d), infinity * (im * c - re * d));
    }
    if (a_finite && (isinf(c) || isinf(d)))
        return __builtin_complex(0.0L, 0.0L);
    return __builtin_complex((long double)NAN, (long double)NAN);
}

/* x / |x| */
static void unit_of(const long double x[4], long double y[2])
{
    long double size = hypotl(x[0], x[1]);
    for (int p = 0; p < 2; p++)
        y[p] = size == 0 ? 0 : isfinite(size) ? x[p] / size : (long double)NAN;
}

/* The factor by which pow, e^(b ln a), magnifies relative errors of a and b; 1 for other functions. */
static long double spread(uint32_t op, const long double x[4])
{
    if (op != COLLET_OP_POW)
        return 1;
    long double log_abs = logl(hypotl(x[0], x[1])), angle = atan2l(x[1], x[0]);
    return 1 + hypotl(x[2], x[3]) * hypotl(log_abs, angle);
}

/* The error of each part is within the limit, in units of |y|. If y is infinite, a part of the result must
 * be infinite; if y is NaN, a part must be NaN or infinite. If y is finite but nearly overflows, every
 * result is accepted. */
static void judge_element(const kit_case *c, kit_verdict *v, int64_t i, const long double x[4],
                          const long double y[2])
{
    uint32_t op = c->row->info.id;
    collet_dtype part = kit_part(c->operand[0].dtype);
    const kit_limit *limit = kit_limit_find(op, c->operand[0].dtype, "number");
    long double got[2] = {kit_get(&c->operand[0], 2 * i), kit_get(&c->operand[0], 2 * i + 1)};
    long double size = hypotl(y[0], y[1]), most = part == COLLET_F64 ? 0x1p1022L : 0x1p126L;
    /* A power that magnifies errors 1000 times may have any result. */
    if (op == COLLET_OP_POW && !(spread(op, x) < 1000))
        return;
    bool infinite = isinf(got[0]) || isinf(got[1]), nan = isnan(got[0]) || isnan(got[1]);
    if (!isfinite(size) || size > most) {
        if (kit_exceeds(v, limit, infinite || (isnan(size) && nan) || isfinite(size) ? 0 : 2))
            kit_fail(v, "output 0 [%" PRIi64 "]: a part that is not finite is missing", i);
        return;
    }
    long double smallest = kit_ulp(part, 0) / (long double)limit->limit * 4;
    for (int p = 0; p < 2; p++)
        kit_near(c, v, 0, 2 * i + p, y[p], fmaxl(size * spread(op, x), smallest), limit);
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* The parts of the inputs of element i; for a reciprocal, the parts of 1 and a, the operands of 1 / a. */
static void arguments(const kit_case *c, int64_t i, long double x[4])
{
    uint32_t inputs = c->row->info.n_in;
    bool reciprocal = c->row->info.id == COLLET_OP_RECIPROCAL;
    x[0] = reciprocal;
    for (uint32_t k = 0; k < inputs; k++)
        for (int p = 0; p < 2; p++)
            x[2 * (k + reciprocal) + (uint32_t)p] =
                kit_get(kit_in(c, k), 2 * kit_source(c, k, i) + p);
}

static void complex_value(uint32_t op, const long double x[4], long double y[2])
{
    long double _Complex q;
    switch (op) {
    case COLLET_OP_DIV:
    case COLLET_OP_RECIPROCAL:
        q = quotient(x);
        y[0] = op == COLLET_OP_DIV ? creall(q) : copysignl(creall(q), x[2]);
        y[1] = op == COLLET_OP_DIV ? cimagl(q) : copysignl(cimagl(q), -x[3]);
        return;
    case COLLET_OP_ABS:
        y[0] = hypotl(x[0], x[1]);
        return;
    case COLLET_OP_SIGN:
        unit_of(x, y);
        return;
    default:
        truth_complex(op, x, y);
    }
}

/* The sign of a zero is not defined if the function is a quotient or a power, if an argument is NaN, or if e^z - 1
 * underflows. */
static bool zero_has_sign(uint32_t op, const long double x[4], long double y)
{
    return op != COLLET_OP_DIV && op != COLLET_OP_POW && !isnan(x[0]) && !isnan(x[1]) &&
           !isnan(x[2]) && !isnan(x[3]) && (op != COLLET_OP_EXPM1 || y == 0);
}

static void judge_complex(const kit_case *c, kit_verdict *v, int64_t i, const long double x[4],
                          const long double y[2])
{
    uint32_t op = c->row->info.id;
    collet_dtype out = c->operand[0].dtype;
    for (int p = 0; p < 2; p++)
        if (op == COLLET_OP_DIV || op == COLLET_OP_RECIPROCAL)
            near_quotient(c, v, 2 * i + p, y[p], hypotl(y[0], y[1]));
        else if (op == COLLET_OP_SIGN)
            kit_near(c, v, 0, 2 * i + p, y[p], 1, kit_limit_find(op, out, "unit"));
    if (op == COLLET_OP_ABS)
        kit_within_ulp(c, v, 0, i, y[0], kit_limit_find(op, out, "magnitude"));
    else if (op != COLLET_OP_DIV && op != COLLET_OP_RECIPROCAL && op != COLLET_OP_SIGN)
        judge_element(c, v, i, x, y);
    for (int p = 0; p < 2 && op != COLLET_OP_ABS; p++)
        if (!isnan(y[1 - p]) && zero_has_sign(op, x, y[p]))
            check_zero(c, v, 2 * i + p, y[p]);
}

/* Complex functions that are not exact. */
static bool complex_limit(uint32_t op, collet_dtype out)
{
    return op == COLLET_OP_DIV || op == COLLET_OP_RECIPROCAL || op == COLLET_OP_ABS ||
           op == COLLET_OP_SIGN || op == COLLET_OP_SQRT ||
           kit_limit_find(op, out, "value")->limit > 0;
}

static void judge_stored(const kit_case *c, kit_verdict *v)
{
    collet_dtype dtype = dtype_of(c), part = kit_part(c->operand[0].dtype);
    bool exact, is_complex = kit_part(dtype) != dtype;
    long double *values = vectors_outputs(c, &exact), x[4] = {0};
    int64_t parts = kit_parts(&c->operand[0]) / c->operand[0].count;
    unsigned char ideal[8];
    for (int64_t i = 0; i < c->operand[0].count * (exact ? parts : 1); i++) {
        for (uint32_t k = 0; k < c->row->info.n_in && !exact && !is_complex; k++)
            x[k] = kit_get(kit_in(c, k), i);
        if (exact) {
            kit_convert(part, values[i], ideal);
            kit_same(c, v, 0, i, ideal, false);
        } else if (is_complex) {
            arguments(c, i, x);
            judge_complex(c, v, i, x, &values[parts * i]);
        } else
            judge_near(c, v, i, x, values[i]);
    }
    free(values);
}

void elementwise_judge(const kit_case *c, kit_verdict *v)
{
    uint32_t op = c->row->info.id;
    collet_dtype dtype = dtype_of(c), out = c->operand[0].dtype;
    bool is_complex = kit_part(dtype) != dtype;
    const kit_limit *limit = kit_limit_find(op, out, "value");
    if (c->kind == STORED) {
        judge_stored(c, v);
        return;
    }
    if (is_complex ? !complex_limit(op, out) : !(limit->limit > 0 && kit_is_real_float(dtype))) {
        judge_exact(c, v);
        return;
    }
    for (int64_t i = 0; i < c->operand[0].count; i++) {
        long double x[4] = {0}, y[2];
        if (is_complex) {
            arguments(c, i, x);
            complex_value(op, x, y);
            judge_complex(c, v, i, x, y);
            continue;
        }
        for (uint32_t k = 0; k < c->row->info.n_in; k++)
            x[k] = kit_get(kit_in(c, k), kit_source(c, k, i));
        judge_near(c, v, i, x, truth_near(op, x));
    }
}
