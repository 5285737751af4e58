/* SPDX-License-Identifier: Apache-2.0 */
#include "points.h"

#include <math.h>
#include <string.h>

#include "kit.h"

uint64_t points_all(collet_dtype dtype)
{
    return dtype == COLLET_F64 ? 0 : dtype == COLLET_F32 ? (uint64_t)1 << 32 : 1 << 16;
}

void points_every(void *x, collet_dtype dtype, uint64_t first, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        if (dtype == COLLET_F32)
            ((uint32_t *)x)[i] = (uint32_t)(first + (uint64_t)i);
        else
            ((uint16_t *)x)[i] = (uint16_t)(first + (uint64_t)i);
    }
}

double points_value(const void *x, collet_dtype dtype, int64_t i)
{
    if (dtype == COLLET_F64)
        return ((const double *)x)[i];
    if (dtype == COLLET_F32)
        return (double)((const float *)x)[i];
    return (double)kit_value(dtype, (const uint16_t *)x + i);
}

static long double sign_of(kit_rng *rng)
{
    return kit_next(rng) & 1 ? -1 : 1;
}

/* A multiple of pi/2, or a number a few ulp from it. */
static long double near_quarter(kit_rng *rng)
{
    long double n = floorl(exp2l((long double)kit_uniform(rng, 0, 50)));
    long double x = n * 1.57079632679489661923L;
    return sign_of(rng) * x * (1 + (long double)(kit_below(rng, 5) - 2) * 0x1p-53L);
}

static long double hard(uint32_t op, kit_rng *rng)
{
    int64_t kind = kit_below(rng, 4);
    long double near = ldexpl((long double)kit_uniform(rng, 1, 2), -(int)kit_below(rng, 54));
    switch (op) {
    case COLLET_OP_EXP:
        return kind == 0   ? (long double)kit_uniform(rng, 709.5, 709.8)
               : kind == 1 ? (long double)kit_uniform(rng, -746, -707)
               : kind == 2 ? sign_of(rng) * near
                           : (long double)kit_uniform(rng, -746, 710);
    case COLLET_OP_LOG:
        return kind < 2 ? 1 + sign_of(rng) * near / 2 : (long double)kit_uniform(rng, 0.5, 2);
    case COLLET_OP_SIN:
    case COLLET_OP_COS:
        return kind < 2    ? near_quarter(rng)
               : kind == 2 ? (long double)kit_uniform(rng, -10, 10)
                           : (long double)kit_uniform(rng, -2e6, 2e6);
    case COLLET_OP_TANH:
        return kind < 2    ? (long double)kit_uniform(rng, -2, 2)
               : kind == 2 ? (long double)kit_uniform(rng, -23, 23)
                           : sign_of(rng) * near;
    default: {
        double from = 0, to = 1;
        kit_domain(op, &from, &to);
        return kind == 0   ? sign_of(rng) * near
               : kind == 1 ? 1 + sign_of(rng) * near / 2
                           : (long double)kit_uniform(rng, from, to);
    }
    }
}

void points_hard(void *x, collet_dtype dtype, uint32_t op, uint64_t block, int64_t count)
{
    kit_rng rng = {.state = block * 0x9e3779b97f4a7c15u + op};
    kit_tensor t = {.dtype = dtype, .ndim = 1, .shape = {count}, .count = count, .data = x};
    kit_random_bits(&t, &rng);
    for (int64_t i = 0; i < count; i += 2)
        kit_set(&t, i, hard(op, &rng));
}
