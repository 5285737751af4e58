/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - elements of operands as doubles and complex doubles. */
#pragma once

#include "shared/host/util/rows.h"

typedef struct complex_number {
    double re, im;
} complex_number;

static inline double real_at(const char *at, int wide)
{
    return wide ? *(const double *)(const void *)at : (double)*(const float *)(const void *)at;
}

static inline void set_real(char *at, int wide, double x)
{
    if (wide)
        *(double *)(void *)at = x;
    else
        *(float *)(void *)at = (float)x;
}

static inline complex_number complex_at(const char *at, int wide)
{
    int64_t part = wide ? 8 : 4;
    return (complex_number){real_at(at, wide), real_at(at + part, wide)};
}

static inline void set_complex(char *at, int wide, complex_number x)
{
    set_real(at, wide, x.re);
    set_real(at + (wide ? 8 : 4), wide, x.im);
}

static inline complex_number add(complex_number a, complex_number b)
{
    return (complex_number){a.re + b.re, a.im + b.im};
}

static inline complex_number times(complex_number a, complex_number b)
{
    return (complex_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline complex_number scaled(complex_number a, double b)
{
    return (complex_number){a.re * b, a.im * b};
}

/* f64 or c128. */
static inline int is_wide(const collet_operand *o)
{
    return o->dtype == COLLET_F64 || o->dtype == COLLET_C128;
}

/* Reads the three numbers of row `i`; the last axis has 3 numbers. */
static inline void read_vector(const collet_operand *o, int64_t i, double x[3])
{
    const char *at = cpu_at(o) + (o->ndim > 1 ? i * cpu_step(o, 0) : 0);
    for (int a = 0; a < 3; a++)
        x[a] = real_at(at + a * cpu_last_step(o), is_wide(o));
}
