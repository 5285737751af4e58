/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/tools/test_bench_parts.c, tests/tools/test_bench.c */
#include "inputs.h"

#include <math.h>
#include <string.h>

#define SEED 0x243f6a8885a308d3u

/* splitmix64 */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Converts to f16 by truncation; subnormal values become 0. */
static uint16_t to_f16(double value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u, exponent = bits >> 23 & 0xffu;
    if (exponent < 113 || exponent > 142)
        return (uint16_t)sign;
    return (uint16_t)(sign | (exponent - 112) << 10 | (bits >> 13 & 0x3ffu));
}

static uint16_t to_bf16(double value)
{
    float f = (float)value;
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return (uint16_t)(bits >> 16);
}

/* An integer becomes 100 times the value, so that not all integers are 0, modulo a power of 2 within its type's range. */
#define CASE_FLOAT(NAME, type, bits)
#define CASE_BFLOAT(NAME, type, bits)
#define CASE_INT(NAME, type, bits)                                                                 \
    case COLLET_##NAME:                                                                            \
        ((type *)data)[i] = (type)fmod(hundredfold, ldexp(1, bits - 1));                           \
        break;
#define CASE_UINT(NAME, type, bits)                                                                \
    case COLLET_##NAME:                                                                            \
        ((type *)data)[i] = (type)fmod(fabs(hundredfold), ldexp(1, bits));                         \
        break;
#define CASE_BOOL(NAME, type, bits)                                                                \
    case COLLET_##NAME:                                                                            \
        ((type *)data)[i] = value >= 0.5;                                                          \
        break;
#define INTEGER_CASE(NAME, id, bytes, text, letter, type, kind, ...)                               \
    CASE_##kind(NAME, type, 8 * bytes)

static void store(collet_dtype dtype, void *data, int64_t i, double value)
{
    double hundredfold = 100 * value;
    switch (dtype) {
    case COLLET_F16:
        ((uint16_t *)data)[i] = to_f16(value);
        break;
    case COLLET_BF16:
        ((uint16_t *)data)[i] = to_bf16(value);
        break;
    case COLLET_F32:
        ((float *)data)[i] = (float)value;
        break;
    case COLLET_F64:
        ((double *)data)[i] = value;
        break;
    case COLLET_C64:
        ((collet_c64 *)data)[i] = (collet_c64){(float)value, (float)(1 - value)};
        break;
    case COLLET_C128:
        ((collet_c128 *)data)[i] = (collet_c128){value, 1 - value};
        break;
        COLLET_REAL_LIST(INTEGER_CASE)
    default:
        break;
    }
}

/* ---- Matrices ---------------------------------------------------------------------------- */

/* Sets r to the rotation of a random unit quaternion. */
static void rotation(uint64_t *state, double r[9])
{
    double q[4], norm = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = 2 * uniform(state) - 1;
        norm += q[i] * q[i];
    }
    norm = norm > 1e-3 ? 1 / sqrt(norm) : 0;
    double w = norm > 0 ? q[0] * norm : 1, x = q[1] * norm, y = q[2] * norm, z = q[3] * norm;
    const double matrix[9] = {
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
        2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(r, matrix, sizeof matrix);
}

/* Sets t to R diag(moments) R^T, exactly symmetric. */
static void inertia(uint64_t *state, double t[9])
{
    double r[9], moments[3];
    rotation(state, r);
    for (int i = 0; i < 3; i++)
        moments[i] = 10 * (i + 1) + uniform(state);
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++) {
            double sum = 0;
            for (int m = 0; m < 3; m++)
                sum += r[3 * i + m] * moments[m] * r[3 * k + m];
            t[3 * i + k] = t[3 * k + i] = sum;
        }
}

static void fill_matrices(const bench_operand *o, void *data, uint64_t *state)
{
    int64_t count = bench_operand_size(o) / 9;
    double matrix[9];
    for (int64_t n = 0; n < count; n++) {
        if (o->make == 'i')
            inertia(state, matrix);
        else
            rotation(state, matrix);
        for (int i = 0; i < 9; i++)
            store(o->dtype, data, 9 * n + i, matrix[i]);
    }
}

/* Fills matrices with uniform numbers in [-1, 1) and a dominant diagonal. */
static void fill_definite(const bench_operand *o, void *data, uint64_t *state)
{
    int64_t n = o->ndim > 1 ? o->shape[o->ndim - 1] : 1, size = n * n;
    for (int64_t first = 0; first < bench_operand_size(o); first += size)
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) {
                double value = 2 * uniform(state) - 1 + (i == j ? (double)n + 1 : 0);
                store(o->dtype, data, first + i * n + j, value);
                store(o->dtype, data, first + j * n + i, value);
            }
}

/* ---- Numbers ----------------------------------------------------------------------------- */

int64_t bench_operand_size(const bench_operand *o)
{
    int64_t size = 1;
    for (int32_t i = 0; i < o->ndim; i++)
        size *= o->shape[i];
    return size;
}

static void fill_numbers(const bench_operand *o, void *data, uint64_t *state, double low,
                         double high)
{
    int64_t size = bench_operand_size(o);
    for (int64_t i = 0; i < size; i++)
        store(o->dtype, data, i, low + (high - low) * uniform(state));
}

/* ---- Ternary ----------------------------------------------------------------------------- */

/* Returns a random code: -1, 0 or 1. */
static int next_code(uint64_t *state)
{
    return (int)(3 * uniform(state)) - 1;
}

static void fill_codes(const bench_operand *o, int8_t *codes, uint64_t *state)
{
    for (int64_t i = 0; i < bench_operand_size(o); i++)
        codes[i] = (int8_t)next_code(state);
}

/* Fills packed rows: four weights in each byte, as in t2. */
static void fill_packed(const bench_operand *o, uint8_t *bytes, uint64_t *state)
{
    for (int64_t i = 0; i < bench_operand_size(o); i++) {
        unsigned byte = 0;
        for (int k = 0; k < 4; k++)
            byte = byte << 2 | (unsigned)(next_code(state) + 1);
        bytes[i] = (uint8_t)byte;
    }
}

void bench_input_fill(const bench_operand *o, uint32_t index, void *data)
{
    uint64_t state = SEED + index;
    switch (o->make) {
    case 'p':
        fill_numbers(o, data, &state, 0.5, 2);
        break;
    case 'x':
        fill_numbers(o, data, &state, 0, 10);
        break;
    case 'm':
        fill_numbers(o, data, &state, 1, 20);
        break;
    case 't':
        for (int64_t i = 0; i < bench_operand_size(o); i++)
            store(o->dtype, data, i, 0.002 * (double)i);
        break;
    case 'b':
        for (int64_t i = 0; i < bench_operand_size(o); i++)
            ((int64_t *)data)[i] = 3 * i;
        break;
    case 's':
        fill_definite(o, data, &state);
        break;
    case 'c':
        fill_codes(o, data, &state);
        break;
    case 'w':
        if (o->dtype == COLLET_U8)
            fill_packed(o, data, &state);
        else
            fill_numbers(o, data, &state, -1, 1);
        break;
    case 'i':
    case 'r':
        fill_matrices(o, data, &state);
        break;
    default:
        fill_numbers(o, data, &state, -1, 1);
    }
}
