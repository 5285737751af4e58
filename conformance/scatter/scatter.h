/* SPDX-License-Identifier: Apache-2.0 */
/* scatter.h - functions for all oracles of the scatter family. */
#pragma once

#include <complex.h>

#include "kit.h"

typedef long double real;
typedef long double complex number;

/* Element i of a complex tensor. */
static inline number scatter_number(const kit_tensor *t, int64_t i)
{
    return kit_get(t, 2 * i) + kit_get(t, 2 * i + 1) * I;
}

/* The index of an element in C order. */
static inline int64_t scatter_index(const kit_tensor *t, const int64_t *index)
{
    int64_t at = 0;
    for (int32_t i = 0; i < t->ndim; i++)
        at = at * t->shape[i] + index[i];
    return at;
}

/* Checks both parts of element i of output 0. */
void scatter_near(const kit_case *c, kit_verdict *v, int64_t i, number ideal, real scale);
const kit_limit *scatter_limit(const kit_case *c);
void scatter_normal(kit_tensor *t, kit_rng *rng);
/* Fills slices with 0 .. count-1, some with -1, and fractions with 0 to 1, some with 0. */
void scatter_slices(kit_tensor *slice, kit_tensor *fraction, int64_t count, kit_rng *rng);
/* |k^2 p - s (s p)|^2; *scale: the same expression of the magnitudes. */
real scatter_intensity(const number p[3], const real magnitude[3], const real s[3], const real k[3],
                       real *scale);
/* Fills `t` with the q of the pixels of a grid, `step` apart. */
void scatter_grid(kit_tensor *t, real step);
