/* SPDX-License-Identifier: Apache-2.0 */
/* Exact values of every dtype as long double. */
#include "kit.h"

#include <float.h>
#include <inttypes.h>
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
    /* Steps count from the binade below, so that a carry increments the exponent. */
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

void kit_convert(collet_dtype dtype, long double value, void *target)
{
    switch (dtype) {
    case COLLET_F16:
        STORE(uint16_t, encode16(value, 10, -14, 0x7c00));
        break;
    case COLLET_BF16:
        STORE(uint16_t, encode16(value, 7, -126, 0x7f80));
        break;
    case COLLET_F32:
        STORE(float, value);
        break;
    case COLLET_F64:
        STORE(double, value);
        break;
    case COLLET_I8:
        STORE(int8_t, clamp(value, INT8_MIN, INT8_MAX));
        break;
    case COLLET_U8:
        STORE(uint8_t, clamp(value, 0, UINT8_MAX));
        break;
    case COLLET_I32:
        STORE(int32_t, clamp(value, INT32_MIN, INT32_MAX));
        break;
    case COLLET_U32:
        STORE(uint32_t, clamp(value, 0, UINT32_MAX));
        break;
    case COLLET_I64:
        STORE(int64_t, clamp(value, (long double)INT64_MIN, (long double)INT64_MAX));
        break;
    case COLLET_U64:
        STORE(uint64_t, clamp(value, 0, (long double)UINT64_MAX));
        break;
    default:
        break;
    }
}

#define LOAD(type)                                                                                 \
    do {                                                                                           \
        type loaded;                                                                               \
        memcpy(&loaded, source, sizeof loaded);                                                    \
        return (long double)loaded;                                                                \
    } while (0)

long double kit_value(collet_dtype dtype, const void *source)
{
    uint16_t half;
    switch (dtype) {
    case COLLET_F16:
        memcpy(&half, source, sizeof half);
        return decode16(half, 10, -14, 0x7c00);
    case COLLET_BF16:
        memcpy(&half, source, sizeof half);
        return decode16(half, 7, -126, 0x7f80);
    case COLLET_F32:
        LOAD(float);
    case COLLET_F64:
        LOAD(double);
    case COLLET_I8:
        LOAD(int8_t);
    case COLLET_U8:
        LOAD(uint8_t);
    case COLLET_I32:
        LOAD(int32_t);
    case COLLET_U32:
        LOAD(uint32_t);
    case COLLET_I64:
        LOAD(int64_t);
    case COLLET_U64:
        LOAD(uint64_t);
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

void kit_format_long(long double value, char text[64])
{
    if (isnan(value))
        snprintf(text, 64, "nan");
    else
        snprintf(text, 64, "%.20Lg", value);
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
        snprintf(text, 64, "%.*Lg", part == COLLET_F64 ? 17 : 9, value);
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
