/* SPDX-License-Identifier: Apache-2.0 */
/* between.h - finds the two pixels between which a coordinate lies. */
#pragma once

#include <math.h>
#include <stdint.h>

#include <collet/plugin.h>

/* A coordinate that is closer than this to a pixel counts as the pixel's coordinate, so that quarter turns are
 * exact. */
#define BETWEEN_ON_PIXEL 1e-9

/* One axis of a bilinear interpolation between pixels low and low + 1; `high` is the weight of pixel low + 1.
 * low = -1: the coordinate is outside. */
typedef struct between {
    int64_t low;
    double high;
} between;

static inline between between_pixels(double at, int64_t n)
{
    if (!(at > -0.5 && at < (double)n - 0.5))
        return (between){-1, 0.0};
    double pixel = (double)(int64_t)(at + 0.5);
    if (fabs(at - pixel) < BETWEEN_ON_PIXEL)
        at = pixel;
    if (!(at >= 0.0 && at <= (double)(n - 1)))
        return (between){-1, 0.0};
    int64_t low = (int64_t)at;
    return (between){low, at - (double)low};
}

/* The height of a pixel divided by its width. */
static inline double scatter_aspect(const collet_kernel_call *call)
{
    const collet_scatter_average_params *params = call->params;
    return params->aspect == 0.0 ? 1.0 : params->aspect;
}

/* The coordinate, along an axis of n pixels, about which images turn. */
static inline double scatter_centre(const collet_kernel_call *call, int64_t n)
{
    const collet_scatter_average_params *params = call->params;
    return params->centre ? (double)(n / 2) : (double)n / 2;
}
