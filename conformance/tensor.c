/* SPDX-License-Identifier: Apache-2.0 */
/* Converts values of every dtype to long double and back, exactly.
 * Tests: tests/conformance/test_kit.c */
#include "kit.h"

#include <float.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(LDBL_MANT_DIG >= 64,
               "the oracle needs a long double that holds every 64-bit integer");

void *kit_memory(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory) {
        static const char text[] = "backend-check: out of memory\n";
        if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
            _exit(KIT_EXIT_MEMORY);
        _exit(KIT_EXIT_MEMORY);
    }
    return memory;
}

collet_dtype kit_part(collet_dtype dtype)
{
    return dtype == COLLET_C64 ? COLLET_F32 : dtype == COLLET_C128 ? COLLET_F64 : dtype;
}

int64_t kit_parts(const kit_tensor *t)
{
    return kit_part(t->dtype) == t->dtype ? t->count : 2 * t->count;
}

bool kit_is_real_float(collet_dtype dtype)
{
    return dtype == COLLET_F16 || dtype == COLLET_BF16 || dtype == COLLET_F32 ||
           dtype == COLLET_F64;
}

int kit_precision(collet_dtype dtype)
{
    switch (kit_part(dtype)) {
    case COLLET_F16:
        return 11;
    case COLLET_BF16:
        return 8;
    case COLLET_F32:
        return 24;
    case COLLET_F64:
        return 53;
    default:
        return 0;
    }
}

/* ---- 16-bit floating types ----------------------------------------------------------------- */

/* f16 and bf16: sign, exponent, `fraction` bits; the smallest normal number is 2^minimum. */
static uint16_t encode16(long double value, int fraction, int minimum, unsigned infinity)
{
    unsigned sign = signbit(value) ? 0x8000u : 0;
    int exponent;
    if (isnan(value))
        return (uint16_t)(sign | infinity | 1u << (fraction - 1));
    long double a = fabsl(value);
    if (isinf(value))
        return (uint16_t)(sign | infinity);
    if (a == 0)
        return (uint16_t)sign;
    (void)frexpl(a, &exponent);
    exponent = exponent - 1 < minimum ? minimum : exponent - 1;
    if (exponent > 200)
        return (uint16_t)(sign | infinity);
    /* `steps` has the implicit leading bit, which adds 1 to the exponent field; so does a carry of
     * the rounding. */
    unsigned steps = (unsigned)rintl(ldexpl(a, fraction - exponent));
    unsigned bits = steps + ((unsigned)(exponent - minimum) << fraction);
    return (uint16_t)(sign | (bits >= infinity ? infinity : bits));
}

static long double decode16(uint16_t bits, int fraction, int minimum, unsigned infinity)
{
    unsigned magnitude = bits & 0x7fffu, below = magnitude & ((1u << fraction) - 1);
    int biased = (int)(magnitude >> fraction);
    long double a;
    if (magnitude > infinity)
        a = (long double)NAN;
    else if (magnitude == infinity)
        a = (long double)INFINITY;
    else if (biased == 0)
        a = ldexpl((long double)below, minimum - fraction);
    else
        a = ldexpl((long double)(below + (1u << fraction)), minimum + biased - 1 - fraction);
    return bits & 0x8000u ? -a : a;
}

/* ---- Conversion ---------------------------------------------------------------------------- */

static long double clamp(long double value, long double low, long double high)
{
    if (isnan(value))
        return 0;
    return value < low ? low : value > high ? high : truncl(value);
}

#define STORE(type, value)                                                                         \
    do {                                                                                           \
        type stored = (type)(value);                                                               \
        memcpy(target, &stored, sizeof stored);                                                    \
    } while (0)

#define STORE_FLOAT(type, bits)                                                                    \
    if (bits == 16)                                                                                \
        STORE(uint16_t, encode16(value, 10, -14, 0x7c00));                                         \
    else                                                                                           \
        STORE(type, value)
#define STORE_BFLOAT(type, bits) STORE(type, encode16(value, 7, -126, 0x7f80))
#define STORE_INT(type, bits)                                                                      \
    STORE(type, clamp(value, -ldexpl(1, bits - 1), ldexpl(1, bits - 1) - 1))
#define STORE_UINT(type, bits) STORE(type, clamp(value, 0, ldexpl(1, bits) - 1))
#define STORE_BOOL(type, bits) STORE(type, value != 0 || isnan(value))
#define STORE_CASE(NAME, id, bytes, text, letter, type, kind, ...)                                 \
    case COLLET_##NAME:                                                                            \
        STORE_##kind(type, 8 * bytes);                                                             \
        break;

void kit_convert(collet_dtype dtype, long double value, void *target)
{
    switch (dtype) {
        COLLET_REAL_LIST(STORE_CASE)
    default:
        break;
    }
}

/* ---- The reverse --------------------------------------------------------------------------- */

#define LOAD(type)                                                                                 \
    do {                                                                                           \
        type loaded;                                                                               \
        memcpy(&loaded, source, sizeof loaded);                                                    \
        return (long double)loaded;                                                                \
    } while (0)

#define LOAD16(...)                                                                                \
    do {                                                                                           \
        uint16_t half;                                                                             \
        memcpy(&half, source, sizeof half);                                                        \
        return decode16(half, __VA_ARGS__);                                                        \
    } while (0)
#define LOAD_FLOAT(type, bits)                                                                     \
    if (bits == 16)                                                                                \
        LOAD16(10, -14, 0x7c00);                                                                   \
    LOAD(type)
#define LOAD_BFLOAT(type, bits) LOAD16(7, -126, 0x7f80)
#define LOAD_INT(type, bits) LOAD(type)
#define LOAD_UINT(type, bits) LOAD(type)
#define LOAD_BOOL(type, bits)                                                                      \
    do {                                                                                           \
        type loaded;                                                                               \
        memcpy(&loaded, source, sizeof loaded);                                                    \
        return loaded != 0;                                                                        \
    } while (0)
#define LOAD_CASE(NAME, id, bytes, text, letter, type, kind, ...)                                  \
    case COLLET_##NAME:                                                                            \
        LOAD_##kind(type, 8 * bytes);

long double kit_value(collet_dtype dtype, const void *source)
{
    switch (dtype) {
        COLLET_REAL_LIST(LOAD_CASE)
    default:
        return 0;
    }
}

/* ---- Tensors ------------------------------------------------------------------------------- */

const void *kit_at(const kit_tensor *t, int64_t i)
{
    return t->data + (size_t)i * collet_dtype_size(kit_part(t->dtype));
}

long double kit_get(const kit_tensor *t, int64_t i)
{
    return kit_value(kit_part(t->dtype), kit_at(t, i));
}

void kit_set(kit_tensor *t, int64_t i, long double value)
{
    collet_dtype part = kit_part(t->dtype);
    kit_convert(part, value, t->data + (size_t)i * collet_dtype_size(part));
}

void kit_allocate(kit_tensor *t)
{
    t->data = kit_memory((size_t)t->count * collet_dtype_size(t->dtype));
}

void kit_tensor_shape(kit_tensor *t, int32_t ndim, const int64_t *shape)
{
    t->ndim = ndim;
    t->count = 1;
    for (int32_t i = 0; i < ndim; i++) {
        t->shape[i] = shape[i];
        t->count *= shape[i];
    }
}

long double kit_ulp(collet_dtype dtype, long double value)
{
    collet_dtype part = kit_part(dtype);
    int minimum = part == COLLET_F64 ? -1022 : part == COLLET_F16 ? -14 : -126, exponent;
    long double a = fabsl(value);
    if (a == 0 || !isfinite(a))
        return ldexpl(1, minimum - kit_precision(dtype) + 1);
    (void)frexpl(a, &exponent);
    exponent = exponent - 1 < minimum ? minimum : exponent - 1;
    return ldexpl(1, exponent - kit_precision(dtype) + 1);
}

/* Uses the locale C, because a program that links the kit may have set another locale. */
static void print_digits(char text[64], int digits, long double value)
{
    locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
    snprintf(text, 64, "%.*Lg", digits, value);
    uselocale(before);
}

void kit_format_long(long double value, char text[64])
{
    if (isnan(value))
        snprintf(text, 64, "nan");
    else
        print_digits(text, 20, value);
}

void kit_format(const kit_tensor *t, int64_t i, char text[64])
{
    collet_dtype part = kit_part(t->dtype);
    long double value = kit_get(t, i);
    if (isnan(value)) {
        uint64_t bits = 0;
        memcpy(&bits, kit_at(t, i), collet_dtype_size(part));
        snprintf(text, 64, "nan (bits 0x%" PRIx64 ")", bits);
    } else if (kit_is_real_float(part)) {
        print_digits(text, part == COLLET_F64 ? 17 : 9, value);
    } else {
        snprintf(text, 64, "%.0Lf", value);
    }
}

int64_t kit_start(const kit_case *c, uint32_t k, int32_t axes, int32_t own, int64_t batch)
{
    const kit_tensor *out = &c->operand[0], *t = &c->operand[k];
    int64_t at = 0, scale = 1;
    for (int32_t i = t->ndim - axes; i < t->ndim; i++)
        scale *= t->shape[i];
    for (int32_t a = out->ndim - own - 1, b = t->ndim - axes - 1; b >= 0; a--, b--) {
        if (t->shape[b] > 1)
            at += batch % out->shape[a] * scale;
        scale *= t->shape[b];
        batch /= out->shape[a];
    }
    return at;
}
