/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: conformance/random/random.c, tests/host/test_random.c */
#include "device.h"

#include <math.h>

#include "shared/host/random/philox.h"
#include "shared/host/random/variates.h"
#include "shared/host/util/rows.h"

/* Returns number `lane` of a block. For f32, the caller rounds the double. */
typedef double (*draw)(const uint32_t block[4], uint32_t lane);

static uint64_t pair(const uint32_t block[4], uint32_t low)
{
    return (uint64_t)block[low + 1] << 32 | block[low];
}

static double uniform_f32(const uint32_t block[4], uint32_t lane)
{
    return (double)(block[lane] >> 8) * 0x1p-24;
}

static double uniform_f64(const uint32_t block[4], uint32_t lane)
{
    return (double)(pair(block, 2 * lane) >> 11) * 0x1p-53;
}

/* The cosine (which = 0) or sine (1) of 2 pi v. Quarter turns are subtracted exactly, so that the
 * remainder near a zero has all its digits. */
static long double turn(long double v, uint32_t which)
{
    const long double half_pi = 1.57079632679489661923132169163975144L;
    long double quarters = rintl(4 * v), rest = half_pi * (4 * v - quarters);
    switch (((uint32_t)quarters + 3 * which) % 4) {
    case 0:
        return cosl(rest);
    case 1:
        return -sinl(rest);
    case 2:
        return -cosl(rest);
    default:
        return sinl(rest);
    }
}

/* The long double result is rounded once, so the reference is the nearest number. Other backends may differ within the
 * error bound. */
static double box_muller(double u, double v, uint32_t lane)
{
    return (double)(sqrtl(-2 * logl(u)) * turn(v, lane % 2));
}

static double normal_f32(const uint32_t block[4], uint32_t lane)
{
    const uint32_t *x = block + lane / 2 * 2;
    float u = (float)x[0] * 0x1p-32f + 0x1p-33f;
    return box_muller((double)u, (double)(x[1] >> 8) * 0x1p-24, lane);
}

static double normal_f64(const uint32_t block[4], uint32_t lane)
{
    double u = (double)(pair(block, 0) >> 11) * 0x1p-53 + 0x1p-54;
    return box_muller(u, (double)(pair(block, 2) >> 11) * 0x1p-53, lane);
}

static double exponential_f32(const uint32_t block[4], uint32_t lane)
{
    return (double)(0 - logl((float)block[lane] * 0x1p-32f + 0x1p-33f));
}

/* The result comes from a uniform number that is neither 0 nor 1. */
static double exponential_f64(const uint32_t block[4], uint32_t lane)
{
    return (double)(0 - logl((double)(pair(block, 2 * lane) >> 12) * 0x1p-52 + 0x1p-53));
}

/* ---- Walking the output in C order ----------------------------------------------------------- */

typedef struct sequence {
    uint32_t key[2], block[4];
    uint64_t next;  /* the number that comes next */
    uint32_t lanes; /* numbers per block */
} sequence;

static void make_block(sequence *s)
{
    uint64_t at = s->next / s->lanes;
    const uint32_t counter[4] = {(uint32_t)at, (uint32_t)(at >> 32), 0, 0};
    cpu_philox(counter, s->key, s->block);
}

static void draw_row(sequence *s, draw number, collet_dtype dtype, char *at, int64_t step,
                     int64_t n)
{
    for (int64_t i = 0; i < n; i++, at += step) {
        if (s->next % s->lanes == 0)
            make_block(s);
        double x = number(s->block, (uint32_t)(s->next++ % s->lanes));
        if (dtype == COLLET_F32)
            *(float *)(void *)at = (float)x;
        else
            *(double *)(void *)at = x;
    }
}

KERNEL(draw)
{
    const collet_random_params *params = call->params;
    const collet_operand *out = operand_of(call, 0);
    int narrow = out->dtype == COLLET_F32;
    draw number = call->op == COLLET_OP_UNIFORM  ? narrow ? uniform_f32 : uniform_f64
                  : call->op == COLLET_OP_NORMAL ? narrow ? normal_f32 : normal_f64
                  : narrow                       ? exponential_f32
                                                 : exponential_f64;
    sequence s = {.key = {(uint32_t)params->seed, (uint32_t)(params->seed >> 32)},
                  .next = params->offset,
                  .lanes = narrow ? 4 : 2};
    cpu_rows walk = {0};
    cpu_rows_view(&walk, out);
    make_block(&s);
    for (cpu_rows_begin(&walk); walk.rows > 0; cpu_rows_next(&walk))
        draw_row(&s, number, out->dtype, walk.at[0], walk.inner[0], walk.length);
    return COLLET_OK;
}

KERNEL(variates)
{
    (void)device;
    (void)queue;
    cpu_variates(call, NULL, 0, operand_count(operand_of(call, 0)));
    return COLLET_OK;
}
