/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/scatter/test_scatter.c */
#include "scatter/geometry.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define HC 1239.84197 /* eV nm, CyRSoXS's value */
#define ROUNDING 1e-6 /* tolerance of a wave number times the edge of a voxel */

static double component(int64_t i, int64_t n, const collet_scatter_options *options)
{
    double whole = 2 * PI / options->voxel;
    return n == 1 ? 0.0
           : options->grid == COLLET_SCATTER_CYRSOXS
               ? (double)i * whole / (double)(n - 1) - whole / 2
               : (double)(i - n / 2) * whole / (double)n;
}

void scatter_axis(double *q, int64_t n, const collet_scatter_options *options, int blank_last)
{
    for (int64_t i = 0; i < n; i++)
        q[i] = component(i, n, options);
    if (blank_last && n > 1 && options->grid != COLLET_SCATTER_EXACT)
        q[n - 1] = NAN;
}

double scatter_limit(const collet_scatter_options *o)
{
    return o->shape[0] > 1 && !o->collapse ? PI / o->voxel * (1 + 1e-12) : INFINITY;
}

double scatter_qz(const collet_scatter_options *o, const double k[3], double square, double qx,
                  double qy)
{
    double x = k[0] + qx, y = k[1] + qy, q = sqrt(square - x * x - y * y) - k[2];
    return fabs(q) <= scatter_limit(o) ? q : (double)NAN;
}

double scatter_middle(const collet_scatter *s, int64_t n)
{
    return s->options.grid == COLLET_SCATTER_CYRSOXS ? (double)n / 2 : (double)(n / 2);
}

int scatter_reaches(const collet_scatter_options *o, double energy, double *nearest)
{
    const int64_t *n = o->shape;
    int64_t pixels = n[1] * n[2], middle = n[1] / 2 * n[2] + n[2] / 2;
    double axis[3][3], k = scatter_wave(energy), rounding = ROUNDING / o->voxel;
    int exact = o->grid == COLLET_SCATTER_EXACT;
    double low = exact ? -scatter_limit(o) : component(0, n[0], o) - rounding;
    double high = exact ? scatter_limit(o) : component(n[0] - 1, n[0], o) + rounding;
    scatter_directions(axis, o->direction);
    *nearest = INFINITY;
    for (int64_t i = 0; i < pixels; i++) {
        int64_t y = (middle + i) % pixels / n[2], x = (middle + i) % pixels % n[2];
        if (exact && i == 0 && pixels > 1) /* q = 0 is on every sphere */
            continue;
        if (!exact && ((n[1] > 1 && y == n[1] - 1) || (n[2] > 1 && x == n[2] - 1)))
            continue;
        double qx = component(x, n[2], o), qy = component(y, n[1], o);
        double u = k * axis[2][0] + qx, v = k * axis[2][1] + qy;
        double z = sqrt(k * k - u * u - v * v) - k * axis[2][2];
        if (n[0] == 1 || o->collapse ? isfinite(z) : z >= low && z <= high)
            return 1;
        *nearest = fmin(*nearest, hypot(qx, qy));
    }
    return 0;
}

double scatter_wave(double energy)
{
    return 2 * PI * energy / HC;
}

/* The rotation that maps z to the beam, about the axis perpendicular to both. */
void scatter_directions(double axis[3][3], const double direction[3])
{
    double norm = hypot(hypot(direction[0], direction[1]), direction[2]);
    double k[3] = {0.0, 0.0, 1.0};
    for (int a = 0; a < 3 && norm > 0.0; a++)
        k[a] = direction[a] / norm;
    double x = k[0], y = k[1], c = k[2];
    double h =
        1.0 / (1.0 + c); /* c > -1, because the beam does not come from behind, as was checked before */
    const double rotation[3][3] = {
        {1.0 - h * x * x, -h * x * y, -x}, {-h * x * y, 1.0 - h * y * y, -y}, {x, y, c}};
    memcpy(axis, rotation, sizeof rotation);
}

double scatter_warp_of(double warp[2][2], const double direction[3], const double normal[3])
{
    double beam[3][3], detector[3][3]; /* rows: the images of x, y, z */
    scatter_directions(beam, direction);
    scatter_directions(detector, normal);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            warp[i][j] = 0.0;
            for (int a = 0; a < 3; a++)
                warp[i][j] += detector[a][i] * beam[j][a];
        }
    return warp[0][0] * warp[1][1] - warp[0][1] * warp[1][0];
}

int64_t scatter_angles(const double angles[3], double *radians)
{
    int64_t count = angles[1] > 0.0 ? (int64_t)round((angles[2] - angles[0]) / angles[1]) + 1 : 1;
    for (int64_t i = 0; radians && i < count; i++)
        radians[i] = (angles[0] + (double)i * angles[1]) * PI / 180.0;
    return count;
}

/* n^2 - 1 = -2 delta + delta^2 - beta^2 + 2 i beta (1 - delta): this form loses no digits by cancellation. */
static void susceptibility(double delta, double beta, double c[2])
{
    c[0] = delta * delta - beta * beta - 2 * delta;
    c[1] = 2 * beta * (1 - delta);
}

void scatter_constants(const collet_scatter_constants *n, double c[3][2])
{
    double along[2];
    susceptibility((n->delta_parallel + 2 * n->delta_perpendicular) / 3,
                   (n->beta_parallel + 2 * n->beta_perpendicular) / 3, c[0]);
    susceptibility(n->delta_perpendicular, n->beta_perpendicular, c[1]);
    susceptibility(n->delta_parallel, n->beta_parallel, along);
    c[2][0] = along[0] - c[1][0];
    c[2][1] = along[1] - c[1][1];
}

void scatter_weights(const double axis[3][3], const double c[3][2], int64_t count, int64_t stride,
                     double (*weights)[2])
{
    /* The fields 2 .. 6 are elements of a symmetric matrix, whose trace is field 1. */
    static const int row[] = {0, 0, 0, 1, 1}, column[] = {0, 1, 2, 1, 2};
    for (int j = 0; j < 6; j++) {
        const double *e = axis[j / 3];
        int a = j % 3;
        double factor[SCATTER_FIELDS][3] = {{0.0}};
        factor[0][0] = factor[1][1] = e[a];
        factor[1][2] = a == 2 ? e[2] : 0.0;
        for (int f = 0; f < 5; f++) {
            if (row[f] == a)
                factor[2 + f][2] += e[column[f]];
            else if (column[f] == a)
                factor[2 + f][2] += e[row[f]];
            if (row[f] == column[f] && a == 2)
                factor[2 + f][2] -= e[2];
        }
        for (int64_t f = 0; f < count; f++)
            for (int part = 0; part < 2; part++) {
                double sum = 0.0;
                for (int i = 0; i < 3; i++)
                    sum += factor[f][i] * c[i][part];
                weights[j * stride + f][part] = sum / (4 * PI);
            }
    }
}
