/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/conformance/test_broken.c */
#include "kit.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void kit_fail(kit_verdict *v, const char *format, ...)
{
    va_list arguments;
    if (v->failed && v->text[0])
        return;
    v->failed = true;
    va_start(arguments, format);
    vsnprintf(v->text, sizeof v->text, format, arguments);
    va_end(arguments);
}

bool kit_exceeds(kit_verdict *v, const kit_limit *limit, double error)
{
    double ratio = isnan(error)         ? (double)INFINITY
                   : limit->limit > 0.0 ? error / limit->limit
                   : error > 0.0        ? (double)INFINITY
                                        : 0.0;
    if (!v->limit || ratio > v->worst) {
        v->limit = limit;
        v->worst = ratio;
        v->error = error;
    }
    if (ratio <= 1.0 || v->failed)
        return false;
    v->failed = true;
    return true;
}

void kit_where(const kit_case *c, uint32_t k, int64_t part, char text[128])
{
    const kit_tensor *t = &c->operand[k];
    uint32_t n_out = c->row->info.n_out;
    bool halves = kit_part(t->dtype) != t->dtype;
    int64_t rest = halves ? part / 2 : part, index[COLLET_MAX_DIMS] = {0};
    for (int32_t i = t->ndim - 1; i >= 0; i--) {
        index[i] = t->shape[i] ? rest % t->shape[i] : 0;
        rest = t->shape[i] ? rest / t->shape[i] : 0;
    }
    int at =
        snprintf(text, 128, "%s %u [", k < n_out ? "output" : "input", k < n_out ? k : k - n_out);
    for (int32_t i = 0; i < t->ndim && at < 100; i++)
        at += snprintf(text + at, (size_t)(128 - at), "%s%" PRId64, i ? "," : "", index[i]);
    snprintf(text + at, (size_t)(128 - at), "]%s",
             !halves    ? ""
             : part % 2 ? " imaginary"
                        : " real");
}

static void explain(const kit_case *c, kit_verdict *v, uint32_t k, int64_t i, const char *ideal,
                    double error, const kit_limit *limit)
{
    char where[128], got[64];
    kit_where(c, k, i, where);
    kit_format(&c->operand[k], i, got);
    kit_fail(v, "%s: expected %s, got %s; %s is off by %.3g %s, the limit is %.3g", where, ideal,
             got, limit->quantity, error, limit->unit, limit->limit);
}

/* The 16-bit number with the given magnitude bits; infinity yields the successor of the largest
 * number. */
static long double magnitude16(collet_dtype dtype, unsigned bits)
{
    unsigned infinity = dtype == COLLET_F16 ? 0x7c00 : 0x7f80;
    uint16_t low = (uint16_t)(bits - (bits == infinity)), below = (uint16_t)(low - 1);
    long double value = kit_value(dtype, &low);
    return bits == infinity ? 2 * value - kit_value(dtype, &below) : value;
}

/* Distance of `ideal` from the interval that rounds to the 16-bit number `got`. */
static long double beyond_rounding(collet_dtype dtype, uint16_t got, long double ideal)
{
    unsigned infinity = dtype == COLLET_F16 ? 0x7c00 : 0x7f80, bits = got & 0x7fffu;
    long double x = got & 0x8000u ? -ideal : ideal, value = magnitude16(dtype, bits), low, high;
    high = bits == infinity ? (long double)INFINITY : (value + magnitude16(dtype, bits + 1)) / 2;
    low = bits == 0 ? -high : (value + magnitude16(dtype, bits - 1)) / 2;
    return x < low ? low - x : x > high ? x - high : 0;
}

/* Distance of part i from `ideal`; for a 16-bit float, the distance of `ideal` from the numbers that round to it. */
static long double distance(const kit_tensor *t, int64_t i, long double ideal)
{
    long double got = kit_get(t, i);
    uint16_t bits;
    if ((t->dtype != COLLET_F16 && t->dtype != COLLET_BF16) || isnan(got))
        return fabsl(got - ideal);
    memcpy(&bits, kit_at(t, i), sizeof bits);
    return beyond_rounding(t->dtype, bits, ideal);
}

void kit_near(const kit_case *c, kit_verdict *v, uint32_t k, int64_t i, long double ideal,
              long double scale, const kit_limit *limit)
{
    long double got = kit_get(&c->operand[k], i), difference = distance(&c->operand[k], i, ideal);
    double error;
    if (isnan(ideal) || isinf(ideal))
        error = (isnan(ideal) && isnan(got)) || got == ideal ? 0.0 : (double)INFINITY;
    else if (difference == 0 || isnan(scale))
        error = 0.0;
    else
        error = (double)(difference / scale);
    if (kit_exceeds(v, limit, error)) {
        char text[64];
        kit_format_long(ideal, text);
        explain(c, v, k, i, text, error, limit);
    }
}

/* Infinity is judged as the first number beyond the largest finite number. */
static long double capped(long double value, int top)
{
    return isnan(value) || fabsl(value) < ldexpl(1, top) ? value : copysignl(ldexpl(1, top), value);
}

void kit_within_ulp(const kit_case *c, kit_verdict *v, uint32_t k, int64_t i, long double ideal,
                    const kit_limit *limit)
{
    collet_dtype part = kit_part(c->operand[k].dtype);
    int top = part == COLLET_F64 ? 1024 : part == COLLET_F16 ? 16 : 128;
    long double got = kit_get(&c->operand[k], i);
    long double difference = fabsl(capped(got, top) - capped(ideal, top));
    double error;
    if (isnan(ideal) || isinf(ideal))
        error = (isnan(ideal) && isnan(got)) || got == ideal ? 0.0 : (double)INFINITY;
    else
        error = (double)(difference / kit_ulp(part, capped(ideal, top) * (1 - 0x1p-60L)));
    if (kit_exceeds(v, limit, error)) {
        char text[64];
        kit_format_long(ideal, text);
        explain(c, v, k, i, text, error, limit);
    }
}

void kit_same(const kit_case *c, kit_verdict *v, uint32_t k, int64_t i, const void *ideal,
              bool nan_bits)
{
    const kit_tensor *t = &c->operand[k];
    collet_dtype part = kit_part(t->dtype);
    const kit_limit *limit = kit_limit_find(c->row->info.id, t->dtype, "value");
    bool same = !memcmp(kit_at(t, i), ideal, collet_dtype_size(part));
    if (!same && !nan_bits)
        same = isnan(kit_get(t, i)) && isnan(kit_value(part, ideal));
    /* An op with a limit may have exact rows: pow of integers. */
    if (kit_exceeds(v, limit, same ? 0.0 : (double)INFINITY)) {
        char where[128], got[64], expected[64];
        kit_tensor one = {.dtype = part, .count = 1, .data = (unsigned char *)(uintptr_t)ideal};
        kit_where(c, k, i, where);
        kit_format(t, i, got);
        kit_format(&one, 0, expected);
        kit_fail(v, "%s: expected %s, got %s; the bits must be equal", where, expected, got);
    }
}
