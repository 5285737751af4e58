/* SPDX-License-Identifier: Apache-2.0 */
/* Paths through the colour space Oklab (B. Ottosson, "A perceptual color space for image
 * processing", 2020), whose equations and constants these are; sRGB after IEC 61966-2-1.
 * Tests: tests/tools/rsoxs/test_rsoxs_view.c */
#include "colour.h"

#include <math.h>

#define PI 3.14159265358979323846

static uint32_t channel(double linear)
{
    double v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
    return (uint32_t)lround(255 * fmin(fmax(v, 0), 1));
}

static double cube(double v)
{
    return v * v * v;
}

static uint32_t from_oklch(double lightness, double chroma, double degrees)
{
    double a = chroma * cos(degrees * PI / 180), b = chroma * sin(degrees * PI / 180);
    double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
    double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
    double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
    return channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s) << 16 |
           channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s) << 8 |
           channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

/* All colours of both maps are within sRGB. */
uint32_t rsoxs_colour(double t)
{
    double chroma = 0.06 * (1 - t) * (1 - 2 * t) + 0.18 * 4 * t * (1 - t) + 0.11 * t * (2 * t - 1);
    return from_oklch(0.12 + 0.85 * t, chroma, 275 + 195 * t);
}

uint32_t rsoxs_colour_cyclic(double t)
{
    return from_oklch(0.75, 0.125, 360 * t);
}
