/* SPDX-License-Identifier: Apache-2.0 */
/* Warps patterns for a detector that does not face the sample; see options.detector in
 * scatter.h.
 * Tests: tests/engines/scatter/test_scatter.c */
#include <math.h>
#include <string.h>

#include "scatter/geometry.h"

#define ROUNDING 1e-9 /* pixels: coordinates this close to a pixel count as on it */

/* Interpolates the four pixels around a position. Pixels of weight 0 are read, too, as CyRSoXS does, unless the grid
 * is `exact`. */
static double sample(const void *values, int wide, int exact, const int64_t n[2], double y, double x)
{
    double sum = 0.0;
    y = fabs(y - round(y)) < ROUNDING ? round(y) : y;
    x = fabs(x - round(x)) < ROUNDING ? round(x) : x;
    int64_t row = (int64_t)y, column = (int64_t)x;
    int64_t below = row + 1 < n[0] ? n[1] : 0, right = column + 1 < n[1] ? 1 : 0;
    const double down[2] = {1.0 - (y - (double)row), y - (double)row};
    const double across[2] = {1.0 - (x - (double)column), x - (double)column};
    for (int i = 0; i < 4; i++) {
        double share = down[i / 2] * across[i % 2];
        int64_t at = row * n[1] + column + i / 2 * below + i % 2 * right;
        if (exact && share == 0.0)
            continue;
        sum += share * (wide ? ((const double *)values)[at] : (double)((const float *)values)[at]);
    }
    return sum;
}

/* Does what CyRSoXS' interpolation does for a detector that faces the sample: a pixel becomes NaN
 * if the pixel to its right, below, or below right is NaN. Works in place, because it reads only pixels that have not
 * changed yet. */
static void spread(const collet_scatter *s, void *values)
{
    const int64_t *n = s->options.shape + 1;
    double *wide = scatter_is_wide(s) ? values : NULL;
    float *narrow = values;
    for (int64_t y = 0; y < n[0]; y++) {
        int64_t below = y + 1 < n[0] ? n[1] : 0;
        for (int64_t x = 0; x < n[1]; x++) {
            int64_t i = y * n[1] + x, right = x + 1 < n[1] ? 1 : 0;
            if (wide && isnan(wide[i + right] + wide[i + below] + wide[i + below + right]))
                wide[i] = NAN;
            if (!wide && isnan(narrow[i + right] + narrow[i + below] + narrow[i + below + right]))
                narrow[i] = NAN;
        }
    }
}

static void warp(const collet_scatter *s, void *values)
{
    const int64_t *n = s->options.shape + 1;
    const double(*m)[2] = s->warp;
    double r = scatter_aspect(s), det = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    int wide = scatter_is_wide(s);
    for (int64_t i = 0; i < n[0] * n[1]; i++) {
        double cx = scatter_middle(s, n[1]), cy = scatter_middle(s, n[0]);
        double dx = (double)(i % n[1]) - cx, dy = (double)(i / n[1]) - cy;
        double x = cx + (m[1][1] * dx - m[0][1] * r * dy) / det;
        double y = cy + (m[0][0] * dy - m[1][0] / r * dx) / det;
        int inside = x > -ROUNDING && y > -ROUNDING && x < (double)(n[1] - 1) + ROUNDING &&
                     y < (double)(n[0] - 1) + ROUNDING;
        double value = inside ? sample(values, wide, scatter_is_exact(s), n, y, x) : s->options.mask ? 0.0 : NAN;
        if (wide)
            ((double *)s->warped)[i] = value;
        else
            ((float *)s->warped)[i] = (float)value;
    }
    memcpy(values, s->warped, (size_t)(n[0] * n[1]) * (wide ? 8 : 4));
}

/* Warps a pattern of the exact grid. The pixel of q = 0 keeps its intensity, which does not spread to other
 * pixels. */
static void warp_exactly(const collet_scatter *s, void *values)
{
    const int64_t *n = s->options.shape + 1;
    double *wide = scatter_is_wide(s) ? values : NULL, zero, sum = 0.0;
    float *narrow = values;
    int64_t middle = n[0] / 2 * n[1] + n[1] / 2, pixels[4];
    int count = scatter_beside_zero(s, pixels);
    zero = wide ? wide[middle] : (double)narrow[middle];
    for (int i = 0; i < count; i++)
        sum += (wide ? wide[pixels[i]] : (double)narrow[pixels[i]]) / count;
    for (int back = 0; back < 2; back++) {
        if (back)
            warp(s, values);
        if (wide)
            wide[middle] = back ? zero : sum;
        else
            narrow[middle] = (float)(back ? zero : sum);
    }
}

void scatter_warp(const collet_scatter *s, void *values)
{
    if (scatter_is_exact(s) && s->warps && s->options.shape[1] * s->options.shape[2] > 1)
        warp_exactly(s, values);
    else if (s->warps)
        warp(s, values);
    else if (!scatter_is_exact(s) && !s->options.mask) /* with a mask no pixel is NaN */
        spread(s, values);
}
