/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/conformance/test_broken.c */
#include "kit.h"

#include <float.h>
#include <math.h>
#include <string.h>

uint64_t kit_next(kit_rng *rng)
{
    uint64_t z = rng->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double kit_uniform(kit_rng *rng, double low, double high)
{
    return low + (high - low) * ((double)(kit_next(rng) >> 11) * 0x1p-53);
}

double kit_normal(kit_rng *rng)
{
    double u = 1.0 - kit_uniform(rng, 0.0, 1.0), v = kit_uniform(rng, 0.0, 1.0);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

int64_t kit_below(kit_rng *rng, int64_t count)
{
    return (int64_t)(kit_next(rng) % (uint64_t)count);
}

/* ---- Elements ------------------------------------------------------------------------------ */

/* The bit that distinguishes quiet from signalling NaN. */
static uint64_t quiet_bit(collet_dtype part)
{
    switch (part) {
    case COLLET_F16:
        return 1u << 9;
    case COLLET_BF16:
        return 1u << 6;
    case COLLET_F32:
        return 1u << 22;
    case COLLET_F64:
        return (uint64_t)1 << 51;
    default:
        return 0;
    }
}

void kit_random_bits(kit_tensor *t, kit_rng *rng)
{
    collet_dtype part = kit_part(t->dtype);
    size_t size = collet_dtype_size(part);
    for (int64_t i = 0; i < kit_parts(t); i++) {
        uint64_t bits = kit_next(rng) >> (part == COLLET_BOOL ? 63 : 64 - 8 * size);
        memcpy(t->data + (size_t)i * size, &bits, size);
        if (kit_is_real_float(part) && isnan(kit_get(t, i))) {
            bits |= quiet_bit(part);
            memcpy(t->data + (size_t)i * size, &bits, size);
        }
    }
}

static long double special(collet_dtype part, kit_rng *rng)
{
    static const long double f32[] = {
        FLT_MAX, FLT_MIN, FLT_TRUE_MIN, 1 + FLT_EPSILON, FLT_MIN - FLT_TRUE_MIN, 1e30L,
        1e-30L,  65520,   65519};
    static const long double f64[] = {
        DBL_MAX, DBL_MIN, DBL_TRUE_MIN, 1 + DBL_EPSILON, DBL_MIN - DBL_TRUE_MIN,
        1e300L,  1e-300L, 1e39L,        1e-40L};
    static const long double f16[] = {65504, 0x1p-14L, 0x1p-24L, 1 + 0x1p-10L, 2048,
                                      2049,  511.5L,   0x1p-15L, 128};
    static const long double bf16[] = {0x1.fep127L, 0x1p-126L, 0x1p-133L, 1 + 0x1p-7L, 256,
                                       257,         65520,     1e-39L,    127.5L};
    static const long double common[] = {0, -0.0L, 1, -1, 0.5L, -1.5L, 2.5L, 255, 256, -128, -129};
    int64_t pick = kit_below(rng, 23);
    long double sign = kit_next(rng) & 1 ? -1 : 1;
    if (pick < 11)
        return common[pick];
    if (pick == 20)
        return sign * (long double)INFINITY;
    if (pick == 21)
        return (long double)NAN;
    if (pick == 22)
        return sign * ldexpl(1, (int)kit_below(rng, 70)) - (long double)kit_below(rng, 2);
    const long double *table = part == COLLET_F16    ? f16
                               : part == COLLET_BF16 ? bf16
                               : part == COLLET_F32  ? f32
                                                     : f64;
    return sign * table[pick - 11];
}

void kit_sprinkle_specials(kit_tensor *t, kit_rng *rng)
{
    collet_dtype part = kit_part(t->dtype);
    for (int64_t i = 0; i < kit_parts(t); i++)
        if (kit_next(rng) & 1)
            kit_set(t, i, special(part, rng));
}

void kit_ordinary(kit_tensor *t, kit_rng *rng, double spread)
{
    collet_dtype part = kit_part(t->dtype);
    for (int64_t i = 0; i < kit_parts(t); i++) {
        double exponent = kit_uniform(rng, -spread, spread);
        if (!kit_is_real_float(part))
            exponent = kit_uniform(rng, 0, 4.0 * (double)collet_dtype_size(part));
        kit_set(t, i, (long double)(kit_normal(rng) * exp2(exponent)));
    }
}

/* ---- Rotations ----------------------------------------------------------------------------- */

static void from_quaternion(double w, double x, double y, double z, double r[9])
{
    r[0] = 1 - 2 * (y * y + z * z);
    r[1] = 2 * (x * y - w * z);
    r[2] = 2 * (x * z + w * y);
    r[3] = 2 * (x * y + w * z);
    r[4] = 1 - 2 * (x * x + z * z);
    r[5] = 2 * (y * z - w * x);
    r[6] = 2 * (x * z - w * y);
    r[7] = 2 * (y * z + w * x);
    r[8] = 1 - 2 * (x * x + y * y);
}

void kit_rotation(kit_rng *rng, double rotation[9])
{
    double q[4], norm = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = kit_normal(rng);
        norm += q[i] * q[i];
    }
    norm = sqrt(norm);
    from_quaternion(q[0] / norm, q[1] / norm, q[2] / norm, q[3] / norm, rotation);
}

void kit_rotation_about(const double axis[3], double angle, double rotation[9])
{
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double s = sin(angle / 2) / length;
    from_quaternion(cos(angle / 2), s * axis[0], s * axis[1], s * axis[2], rotation);
}
