/* SPDX-License-Identifier: Apache-2.0 */
/* The exact grid. The amplitude of a pixel at q_z is the sum of its layers times exp(i q_z z), with z from the middle
 * of the film. The energies of a pass need this amplitude in an interval of q_z of each pixel. In the interval the
 * amplitude is interpolated between Chebyshev nodes. With r = half the interval times half the film's thickness, the
 * function exp(i r t) has the coefficients 2 i^n J_n(r) in Chebyshev polynomials. They fall fast for n > r, so a few
 * more nodes than r give full precision.
 * Tests: tests/engines/scatter/test_scatter_exact.c */
#include <math.h>
#include <stdlib.h>

#include "scatter/arrays.h"
#include "scatter/geometry.h"
#include "scatter/methods.h"

#define PI 3.14159265358979323846
#define ERROR_F32 1e-8 /* error of interpolation, relative to the sum of the layers' magnitudes */
#define ERROR_F64 1e-16
#define NARROW 1e-3 /* r of the narrowest interval that is divided among several nodes */

/* Wave numbers, low <= high. */
typedef struct waves {
    double low, high;
} waves;

/* The lowest and highest wave number of energies first .. end-1. If these are all energies, options.energy_range is
 * included, so that runs that share the energies of a range have the same nodes. The direct method ignores
 * energy_range, because it has one node for each energy. */
static waves waves_of(const collet_scatter *s, int64_t first, int64_t end)
{
    const collet_scatter_options *o = &s->options;
    double low = INFINITY, high = 0.0;
    for (int64_t e = first; e < end; e++) {
        low = fmin(low, o->energies[e]);
        high = fmax(high, o->energies[e]);
    }
    if (o->method == COLLET_SCATTER_FAST && end - first == o->n_energies && o->energy_range[1] > 0.0) {
        low = fmin(low, o->energy_range[0]);
        high = fmax(high, o->energy_range[1]);
    }
    return (waves){scatter_wave(low), scatter_wave(high)};
}

/* q_z of pixel qx, qy for wave number k, without a limit. q_z grows with k. */
static double qz_of(const collet_scatter *s, double k, double qx, double qy)
{
    const double *axis = s->axis[2];
    double x = k * axis[0] + qx, y = k * axis[1] + qy;
    return sqrt(k * k - x * x - y * y) - k * axis[2];
}

/* The smallest q_z of a pixel: q_z for the wave number k at which the scattered wave is in the plane of the film,
 * |k| = |k_xy + q|. */
static double grazing(const collet_scatter *s, double qx, double qy)
{
    const double *axis = s->axis[2];
    double along = axis[0] * qx + axis[1] * qy, square = axis[2] * axis[2];
    return -(along + sqrt(along * along + (qx * qx + qy * qy) * square)) / axis[2];
}

/* Sets the interval of q_z of a pixel; NaN: no sphere meets it. */
static void interval_of(const collet_scatter *s, waves k, double qx, double qy, double *middle,
                        double *half)
{
    double limit = scatter_limit(&s->options), high = qz_of(s, k.high, qx, qy);
    double low = qz_of(s, k.low, qx, qy);
    *middle = (double)NAN;
    *half = 0.0;
    if (!(high >= -limit))
        return;
    if (!(low >= -limit))
        low = fmax(-limit, isnan(low) ? grazing(s, qx, qy) : low);
    if (low > limit)
        return;
    high = fmin(high, limit);
    *middle = (low + high) / 2;
    *half = fabs(high - low) / 2; /* at q = 0 both are 0 to rounding */
}

/* Half the film's thickness, in nm. */
static double half_film(const collet_scatter *s)
{
    return (double)(s->options.shape[0] - 1) / 2 * s->options.voxel;
}

int64_t scatter_exact_depth(const collet_scatter *s, int64_t first, int64_t end)
{
    const int64_t *n = s->options.shape;
    double widest = 0.0, middle, half;
    waves k = waves_of(s, first, end);
    for (int64_t i = 0; i < n[1] * n[2]; i++) {
        interval_of(s, k, s->q[2][i % n[2]], s->q[1][i / n[2]], &middle, &half);
        widest = half > widest ? half : widest;
    }
    double r = widest * half_film(s), error = scatter_is_wide(s) ? ERROR_F64 : ERROR_F32;
    int depth = 1;
    while (r > 0.0 && ((double)depth <= r || fabs(jn(depth, r)) > error))
        depth++;
    return depth;
}

/* Chebyshev's nodes of the first kind and their barycentric weights (Berrut and Trefethen, SIAM Review 46, 2004, doi
 * 10.1137/S0036144502417715). */
collet_status scatter_exact_nodes(collet_scatter *s, collet_error *err)
{
    s->nodes = malloc((size_t)(2 * s->depth) * sizeof *s->nodes);
    if (!s->nodes)
        return collet_fail(err, COLLET_NO_MEMORY, "no memory for %lld nodes", (long long)s->depth);
    for (int64_t d = 0; d < s->depth; d++) {
        double angle = PI * ((double)d + 0.5) / (double)s->depth;
        s->nodes[d] = s->depth > 1 ? cos(angle) : 0.0;
        s->nodes[s->depth + d] = (d % 2 ? -1.0 : 1.0) * sin(angle);
    }
    return COLLET_OK;
}

void scatter_exact_intervals(collet_scatter *s, int64_t first, int64_t end)
{
    const int64_t *n = s->options.shape;
    int64_t pixels = n[1] * n[2];
    waves k = waves_of(s, first, end);
    double narrowest = s->depth > 1 ? NARROW / half_film(s) : 0.0;
    for (int64_t i = 0; i < pixels; i++) {
        double *middle = s->interval + i, *half = middle + pixels;
        interval_of(s, k, s->q[2][i % n[2]], s->q[1][i / n[2]], middle, half);
        *half = *half < narrowest ? narrowest : *half;
    }
}

collet_scatter_params scatter_exact_params(const collet_scatter *s)
{
    double limit = scatter_limit(&s->options);
    return (collet_scatter_params){.struct_size = sizeof(collet_scatter_params),
                                   .thickness = s->options.voxel,
                                   .limit = isfinite(limit) ? limit : 0.0};
}

collet_status scatter_exact_arrays(collet_scatter *s, int single, collet_array **nodes, collet_array **interval)
{
    static const double one_node[] = {0.0, 1.0};
    const int64_t *n = s->options.shape;
    int64_t depth = single ? 1 : s->depth;
    collet_status status =
        scatter_numbers(s, nodes, COLLET_F64, 2, SCATTER_SHAPE(2, depth), single ? one_node : s->nodes);
    if (status == COLLET_OK &&
        collet_array_wrap(s->context, interval, COLLET_F64, 3, SCATTER_SHAPE(2, n[1], n[2]), NULL,
                          s->interval, COLLET_WRAP_READONLY, NULL, NULL) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "writing the q_z of pixels");
    return status;
}

void scatter_exact_shares(const collet_scatter *s, int64_t pixel, double q, double *shares)
{
    int64_t pixels = s->options.shape[1] * s->options.shape[2];
    double half = s->interval[pixels + pixel], total = 0.0;
    double t = half == 0.0 ? 0.0 : (q - s->interval[pixel]) / half;
    for (int64_t d = 0; d < s->depth; d++) {
        if (t == s->nodes[d]) {
            for (int64_t i = 0; i < s->depth; i++)
                shares[i] = i == d;
            return;
        }
        shares[d] = s->nodes[s->depth + d] / (t - s->nodes[d]);
        total += shares[d];
    }
    for (int64_t d = 0; d < s->depth; d++)
        shares[d] /= total;
}
