/* SPDX-License-Identifier: Apache-2.0 */
/* Integrates patterns over rings of q and angles chi.
 * Tests: tests/engines/scatter/test_scatter_integrals.c */
#include <inttypes.h>
#include <math.h>

#include <collet/floating.h>

#include "io/struct.h"
#include "scatter/geometry.h"

#define PI 3.14159265358979323846
#define CHI COLLET_SCATTERING_CHI
#define ON_PIXEL 1e-9 /* pixels; so close to a pixel its neighbours are not used */

typedef struct detector {
    collet_scattering_rings rings;
    const void *values;
    int wide;       /* 1: the values are f64 */
    double pixel_y; /* 1/nm */
    double pixel_x;
    double ring;                              /* distance of rings, 1/nm */
    double warp[2][2];                        /* maps q to its position in the image */
    double k[3];                              /* wave vector of the beam, 1/nm */
    double parallel[CHI], perpendicular[CHI]; /* weights of the wedges */
} detector;

static collet_status check_rings(detector *d, const collet_scattering_rings *rings,
                                 collet_error *err)
{
    collet_status status = io_struct_in(&d->rings, sizeof d->rings, rings, "the rings", err);
    const collet_scattering_rings *r = &d->rings;
    if (status != COLLET_OK)
        return status;
    if (r->y < 2 || r->x < 2)
        return collet_fail(err, COLLET_INVALID,
                           "the rings: %" PRId64 " x %" PRId64
                           " pixels (Y, X); at least 2 x 2 are needed",
                           r->y, r->x);
    if (!(r->wedge >= 0 && r->wedge <= 180))
        return collet_fail(err, COLLET_INVALID,
                           "the rings: wedge is %g degrees; it must be 0 to 180", r->wedge);
    for (int a = 0; a < 3; a++)
        if (!isfinite(r->direction[a]))
            return collet_fail(err, COLLET_INVALID,
                               "the rings: all components of direction must be finite");
    if (r->flat > 1 || r->direction[2] < 0)
        return collet_fail(err, COLLET_INVALID, "the rings: %s",
                           r->flat > 1 ? "flat must be 0 or 1" : "direction has a negative z");
    if (!(fabs(scatter_warp_of(d->warp, r->direction, r->detector)) > 0))
        return collet_fail(err, COLLET_INVALID,
                           "the rings: the beam meets the detector at its edge");
    d->pixel_y = 2 * PI / ((double)r->y * r->voxel);
    d->pixel_x = 2 * PI / ((double)r->x * r->voxel);
    d->ring = fmin(d->pixel_y, d->pixel_x);
    return d->ring > 0 && isfinite(r->voxel * hypot(d->pixel_y, d->pixel_x) / d->ring)
               ? COLLET_OK
               : collet_fail(err, COLLET_INVALID,
                             "the rings: voxel is %g nm; it must be positive and finite", r->voxel);
}

static int64_t count_rings(const detector *d)
{
    double corner =
        hypot(d->pixel_y * (double)(d->rings.y / 2), d->pixel_x * (double)(d->rings.x / 2));
    return (int64_t)(corner / d->ring + ON_PIXEL) + 1;
}

collet_status collet_scattering_rings_q(const collet_scattering_rings *rings, int64_t *count,
                                        double *q, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    detector d;
    if (!rings || !count)
        return collet_fail(err, COLLET_INVALID, "%s is NULL", rings ? "count" : "rings");
    collet_status status = check_rings(&d, rings, err);
    if (status != COLLET_OK)
        return status;
    *count = count_rings(&d);
    for (int64_t j = 0; q && j < *count; j++)
        q[j] = (double)j * d.ring;
    return COLLET_OK;
}

static double chi_of(int i)
{
    return i - 0.5 * (CHI - 1);
}

/* The part of the degree around chi that lies in the wedge around `centre` or the opposite one. */
static double in_wedge(double chi, double centre, double half)
{
    double distance = fabs(remainder(chi - centre, 180));
    return fmax(0, fmin(distance + 0.5, half) - fmax(distance - 0.5, -half));
}

static void prepare(detector *d, double energy)
{
    double half = (d->rings.wedge > 0 ? d->rings.wedge : 90) / 2, norm = 0;
    const double *direction = d->rings.direction;
    for (int i = 0; i < CHI; i++) {
        d->parallel[i] = in_wedge(chi_of(i), 0, half);
        d->perpendicular[i] = in_wedge(chi_of(i), 90, half);
    }
    for (int a = 0; a < 3; a++)
        norm += direction[a] * direction[a];
    for (int a = 0; a < 3; a++)
        d->k[a] = scatter_wave(energy) * (norm > 0 ? direction[a] / sqrt(norm) : a == 2);
}

/*
 * The distance p from the centre of the detector at which q lies in the direction chi: |k + q| = k
 * gives q^2 / 2 + kt p + kz qz = 0, where kt is the part of k along chi and qz^2 = q^2 - p^2. NaN
 * if the beam would be scattered backwards.
 */
static double distance_of(const detector *d, double q, double c, double s)
{
    if (d->rings.flat)
        return q;
    double along = d->k[0] * c + d->k[1] * s, kz2 = d->k[2] * d->k[2], half = q * q / 2;
    double a = kz2 + along * along, b = along * half, e = half * half - kz2 * q * q;
    double p = (sqrt(b * b - a * e) - b) / a;
    return half + along * p < kz2 ? p : NAN;
}

static double at(const detector *d, int64_t y, int64_t x)
{
    int64_t i = y * d->rings.x + x;
    return d->wide ? ((const double *)d->values)[i] : (double)((const float *)d->values)[i];
}

/* Sets *before to the pixel before a position, and *weight to the weight of the next pixel. 0: the
 * position is outside. */
static int split(double place, int64_t count, int64_t *before, double *weight)
{
    double nearest = round(place);
    if (fabs(place - nearest) < ON_PIXEL)
        place = nearest;
    if (!(place >= 0 && place <= (double)(count - 1)))
        return 0;
    *before = (int64_t)place;
    *weight = place - (double)*before;
    return 1;
}

/* Bilinear interpolation. NaN outside, and where a pixel with a weight above 0 is NaN. */
static double sample(const detector *d, double qy, double qx)
{
    int64_t y, x;
    double wy, wx, place[2];
    for (int i = 0; i < 2; i++)
        place[i] = d->warp[i][0] * qx + d->warp[i][1] * qy;
    qx = place[0];
    qy = place[1];
    if (!split(qy / d->pixel_y + (double)(d->rings.y / 2), d->rings.y, &y, &wy) ||
        !split(qx / d->pixel_x + (double)(d->rings.x / 2), d->rings.x, &x, &wx))
        return NAN;
    double first = at(d, y, x), second = 0;
    if (wx > 0)
        first += wx * (at(d, y, x + 1) - first);
    if (!(wy > 0))
        return first;
    second = at(d, y + 1, x);
    if (wx > 0)
        second += wx * (at(d, y + 1, x + 1) - second);
    return first + wy * (second - first);
}

/* The sums of one ring, without values that are NaN. */
typedef struct ring_sums {
    double mean, count, parallel, in_parallel, perpendicular, in_perpendicular;
} ring_sums;

static ring_sums sum_ring(const detector *d, double q, const double (*turn)[2], float *polar,
                          int64_t stride)
{
    ring_sums sum = {0};
    for (int i = 0; i < CHI; i++) {
        double p = distance_of(d, q, turn[i][0], turn[i][1]);
        double v = sample(d, p * turn[i][1], p * turn[i][0]);
        if (polar)
            polar[i * stride] = (float)v;
        if (!isfinite(v))
            continue;
        sum.mean += v;
        sum.count++;
        sum.parallel += d->parallel[i] * v;
        sum.in_parallel += d->parallel[i];
        sum.perpendicular += d->perpendicular[i] * v;
        sum.in_perpendicular += d->perpendicular[i];
    }
    return sum;
}

static double divided(double a, double b)
{
    return b != 0 ? a / b : NAN;
}

static void store(const collet_scattering_integrals *out, int64_t j, const ring_sums *sum)
{
    double parallel = divided(sum->parallel, sum->in_parallel);
    double perpendicular = divided(sum->perpendicular, sum->in_perpendicular);
    if (out->mean)
        out->mean[j] = (float)divided(sum->mean, sum->count);
    if (out->parallel)
        out->parallel[j] = (float)parallel;
    if (out->perpendicular)
        out->perpendicular[j] = (float)perpendicular;
    if (out->anisotropy)
        out->anisotropy[j] = (float)divided(parallel - perpendicular, parallel + perpendicular);
}

collet_status collet_scattering_integrate(const collet_scattering_rings *rings,
                                          const collet_scattering_integrals *out, double energy,
                                          collet_dtype dtype, const void *values, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    detector d = {.values = values, .wide = dtype == COLLET_F64};
    collet_scattering_integrals own;
    double turn[CHI][2];
    if (!rings || !values || !out || !(energy > 0 && isfinite(energy)) ||
        (dtype != COLLET_F32 && dtype != COLLET_F64))
        return collet_fail(err, COLLET_INVALID, "%s",
                           !rings                           ? "rings is NULL"
                           : !values                        ? "values is NULL"
                           : !out                           ? "out is NULL"
                           : energy > 0 && isfinite(energy) ? "dtype must be f32 or f64"
                                                            : "energy must be positive and finite");
    collet_status status = check_rings(&d, rings, err);
    if (status == COLLET_OK)
        status = io_struct_in(&own, sizeof own, out, "the integrals", err);
    if (status != COLLET_OK)
        return status;
    prepare(&d, energy);
    for (int i = 0; i < CHI; i++) {
        turn[i][0] = cos(chi_of(i) * PI / 180);
        turn[i][1] = sin(chi_of(i) * PI / 180);
    }
    int64_t count = count_rings(&d), numbers = 0;
    for (int64_t j = 0; j < count; j++) {
        ring_sums sum = sum_ring(&d, (double)j * d.ring, (const double(*)[2])turn,
                                 own.polar ? own.polar + j : NULL, count);
        store(&own, j, &sum);
        numbers += sum.count > 0;
    }
    return numbers ? COLLET_OK
                   : collet_fail(err, COLLET_INVALID,
                                 "the pattern at %g eV cannot be integrated: no ring has a finite "
                                 "number",
                                 energy);
}
