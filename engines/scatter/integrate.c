/* SPDX-License-Identifier: Apache-2.0 */
/* Integrates patterns over rings of q and angles chi.
 * Tests: tests/engines/scatter/test_scatter_integrals.c */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <collet/floating.h>

#include "io/struct.h"
#include "scatter/geometry.h"

#define PI 3.14159265358979323846
#define CHI COLLET_SCATTER_CHI
#define ON_PIXEL 1e-9 /* pixels; a position this close to a pixel uses no neighbours */

typedef struct detector {
    collet_scatter_rings rings;
    const void *values;
    int wide;       /* 1: the values are f64 */
    double pixel_y; /* 1/nm */
    double pixel_x;
    double ring;                              /* distance of rings, 1/nm */
    double warp[2][2];                        /* maps q to a position in the image */
    double k[3];                              /* wave vector of the beam, 1/nm */
    double parallel[CHI], perpendicular[CHI]; /* weights of the wedges */
    double turn[CHI][2];                      /* cosine and sine of chi */
} detector;

static collet_status check_rings(detector *d, const collet_scatter_rings *rings,
                                 collet_error *err)
{
    collet_status status = io_struct_in(&d->rings, sizeof d->rings, rings, "the rings", err);
    const collet_scatter_rings *r = &d->rings;
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

collet_status collet_scatter_rings_q(const collet_scatter_rings *rings, int64_t *count,
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

/* Returns the fraction of the interval chi - 0.5 .. chi + 0.5 degrees that lies in the wedge around `centre` or in the
 * opposite wedge. */
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
        d->turn[i][0] = cos(chi_of(i) * PI / 180);
        d->turn[i][1] = sin(chi_of(i) * PI / 180);
    }
    for (int a = 0; a < 3; a++)
        norm += direction[a] * direction[a];
    for (int a = 0; a < 3; a++)
        d->k[a] = scatter_wave(energy) * (norm > 0 ? direction[a] / sqrt(norm) : a == 2);
}

/* Returns the distance p from the centre of the detector at which q lies in the direction chi: |k + q| = k
 * gives q^2 / 2 + kt p + kz qz = 0, where kt is the part of k along chi and qz^2 = q^2 - p^2. NaN
 * if the beam would be scattered backwards. */
static double distance_of(const detector *d, double q, double c, double s)
{
    if (d->rings.flat)
        return q;
    double along = d->k[0] * c + d->k[1] * s, kz2 = d->k[2] * d->k[2], half = q * q / 2;
    double a = kz2 + along * along, b = along * half, e = half * half - kz2 * q * q;
    double p = (sqrt(b * b - a * e) - b) / a;
    return half + along * p < kz2 ? p : NAN;
}

static double at(const detector *d, int64_t i)
{
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

/* The pixels between which a position is interpolated, and their weights. count = 0: the position is outside. */
typedef struct taps {
    int64_t at[4];
    double weight[4];
    int count;
} taps;

static taps taps_at(const detector *d, double qy, double qx)
{
    taps t = {.count = 0};
    int64_t y, x;
    double wy, wx, place[2];
    for (int i = 0; i < 2; i++)
        place[i] = d->warp[i][0] * qx + d->warp[i][1] * qy;
    if (!split(place[1] / d->pixel_y + (double)(d->rings.y / 2), d->rings.y, &y, &wy) ||
        !split(place[0] / d->pixel_x + (double)(d->rings.x / 2), d->rings.x, &x, &wx))
        return t;
    for (int i = 0; i < 4; i++) {
        double weight = (i / 2 ? wy : 1 - wy) * (i % 2 ? wx : 1 - wx);
        if ((i / 2 && !(wy > 0)) || (i % 2 && !(wx > 0)))
            continue;
        t.at[t.count] = (y + i / 2) * d->rings.x + x + i % 2;
        t.weight[t.count++] = weight;
    }
    return t;
}

/* Interpolates bilinearly; NaN outside, or if a pixel with a weight above 0 is NaN. */
static double sample(const detector *d, const taps *t)
{
    double sum = t->count ? 0 : NAN;
    for (int i = 0; i < t->count; i++)
        sum += t->weight[i] * at(d, t->at[i]);
    return sum;
}

/* Returns the pixels around the point of ring j in direction chi number i, and their weights. */
static taps taps_of(const detector *d, int64_t j, int i)
{
    double c = d->turn[i][0], s = d->turn[i][1], p = distance_of(d, (double)j * d->ring, c, s);
    return taps_at(d, p * s, p * c);
}

/* The sums of one ring, without values that are NaN. */
typedef struct ring_sums {
    double mean, count, parallel, in_parallel, perpendicular, in_perpendicular;
} ring_sums;

/* Sets element i of an array of `out`; does nothing if the array is NULL. */
static void set(const collet_scatter_integrals *out, void *array, int64_t i, double value)
{
    if (array && out->wide)
        ((double *)array)[i] = value;
    else if (array)
        ((float *)array)[i] = (float)value;
}

static ring_sums sum_ring(const detector *d, int64_t j, int64_t rings,
                          const collet_scatter_integrals *out)
{
    ring_sums sum = {0};
    for (int i = 0; i < CHI; i++) {
        taps t = taps_of(d, j, i);
        double v = sample(d, &t);
        set(out, out->polar, i * rings + j, v);
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

static void store(const collet_scatter_integrals *out, int64_t j, const ring_sums *sum)
{
    double parallel = divided(sum->parallel, sum->in_parallel);
    double perpendicular = divided(sum->perpendicular, sum->in_perpendicular);
    set(out, out->mean, j, divided(sum->mean, sum->count));
    set(out, out->parallel, j, parallel);
    set(out, out->perpendicular, j, perpendicular);
    set(out, out->anisotropy, j, divided(parallel - perpendicular, parallel + perpendicular));
}

static collet_status open_detector(detector *d, const collet_scatter_rings *rings,
                                   collet_scatter_integrals *own,
                                   const collet_scatter_integrals *given, double energy,
                                   collet_dtype dtype, const void *values, collet_error *err)
{
    if (!rings || !values || !given || !(energy > 0 && isfinite(energy)) ||
        (dtype != COLLET_F32 && dtype != COLLET_F64))
        return collet_fail(err, COLLET_INVALID, "%s",
                           !rings                           ? "rings is NULL"
                           : !values                        ? "values is NULL"
                           : !given                         ? "out is NULL"
                           : energy > 0 && isfinite(energy) ? "dtype must be f32 or f64"
                                                            : "energy must be positive and finite");
    *d = (detector){.values = values, .wide = dtype == COLLET_F64};
    *own = (collet_scatter_integrals){0};
    collet_status status = check_rings(d, rings, err);
    if (status == COLLET_OK)
        status = io_struct_in(own, sizeof *own, given, "the integrals", err);
    if (status == COLLET_OK && own->wide > 1)
        status = collet_fail(err, COLLET_INVALID, "the integrals: wide is %u; it must be 0 or 1",
                             own->wide);
    if (status == COLLET_OK)
        prepare(d, energy);
    return status;
}

collet_status collet_scatter_integrate(const collet_scatter_rings *rings,
                                       const collet_scatter_integrals *out, double energy,
                                       collet_dtype dtype, const void *values, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    detector d;
    collet_scatter_integrals own;
    collet_status status = open_detector(&d, rings, &own, out, energy, dtype, values, err);
    if (status != COLLET_OK)
        return status;
    int64_t count = count_rings(&d), numbers = 0;
    for (int64_t j = 0; j < count; j++) {
        ring_sums sum = sum_ring(&d, j, count, &own);
        store(&own, j, &sum);
        numbers += sum.count > 0;
    }
    return numbers ? COLLET_OK
                   : collet_fail(err, COLLET_INVALID,
                                 "the pattern at %g eV cannot be integrated: no ring has a finite "
                                 "number",
                                 energy);
}

/* ---- The adjoint ----------------------------------------------------------------------------- */

static double cotangent(const collet_scatter_integrals *in, const void *array, int64_t i)
{
    return !array ? 0 : in->wide ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

/* dL / d(sums of a ring); 0 for means that are NaN. */
static ring_sums ring_cotangents(const collet_scatter_integrals *in, int64_t j,
                                 const ring_sums *sum)
{
    double p = divided(sum->parallel, sum->in_parallel);
    double s = divided(sum->perpendicular, sum->in_perpendicular);
    double by_p = isnan(p) ? 0 : cotangent(in, in->parallel, j);
    double by_s = isnan(s) ? 0 : cotangent(in, in->perpendicular, j);
    if (p + s > 0 || p + s < 0) {
        double by_a = cotangent(in, in->anisotropy, j) * 2 / ((p + s) * (p + s));
        by_p += by_a * s;
        by_s -= by_a * p;
    }
    return (ring_sums){.mean = sum->count > 0 ? cotangent(in, in->mean, j) / sum->count : 0,
                       .parallel = isnan(p) ? 0 : by_p / sum->in_parallel,
                       .perpendicular = isnan(s) ? 0 : by_s / sum->in_perpendicular};
}

static void add_ring(const detector *d, int64_t j, int64_t rings,
                     const collet_scatter_integrals *in, const ring_sums *by, void *out)
{
    for (int i = 0; i < CHI; i++) {
        taps t = taps_of(d, j, i);
        if (!isfinite(sample(d, &t)))
            continue;
        double by_v = by->mean + d->parallel[i] * by->parallel +
                      d->perpendicular[i] * by->perpendicular +
                      cotangent(in, in->polar, i * rings + j);
        for (int k = 0; k < t.count; k++)
            if (d->wide)
                ((double *)out)[t.at[k]] += t.weight[k] * by_v;
            else
                ((float *)out)[t.at[k]] += (float)(t.weight[k] * by_v);
    }
}

collet_status collet_scatter_integrate_adjoint(const collet_scatter_rings *rings,
                                               const collet_scatter_integrals *cotangents,
                                               double energy, collet_dtype dtype,
                                               const void *values, void *out, collet_error *err)
{
    COLLET_FLOATING_SCOPE;
    detector d;
    collet_scatter_integrals in, none = {0};
    if (!cotangents || !out)
        return collet_fail(err, COLLET_INVALID, "%s is NULL", out ? "cotangents" : "out");
    collet_status status = open_detector(&d, rings, &in, cotangents, energy, dtype, values, err);
    if (status != COLLET_OK)
        return status;
    int64_t count = count_rings(&d);
    memset(out, 0, (size_t)(d.rings.y * d.rings.x) * (d.wide ? 8 : 4));
    for (int64_t j = 0; j < count; j++) {
        ring_sums sum = sum_ring(&d, j, count, &none), by = ring_cotangents(&in, j, &sum);
        add_ring(&d, j, count, &in, &by, out);
    }
    return COLLET_OK;
}
