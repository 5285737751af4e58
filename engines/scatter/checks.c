/* SPDX-License-Identifier: Apache-2.0 */
#include "scatter/checks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define SUM_TOLERANCE 1e-5
#define CHUNK 1024
#define CONSTANT_MAX 1000 /* of delta and beta, which are about 0.001 */

/* ---- Options --------------------------------------------------------------------------------- */

static collet_status check_sizes(const collet_scattering_options *o, collet_error *err)
{
    int64_t voxels = 1;
    if (o->dtype != COLLET_F32 && o->dtype != COLLET_F64)
        return collet_fail(err, COLLET_INVALID, "dtype is %s, not f32 or f64",
                           collet_dtype_name(o->dtype));
    for (int a = 0; a < 3; a++) {
        if (o->shape[a] < 1 || o->shape[a] > INT32_MAX || voxels > (INT64_C(1) << 40) / o->shape[a])
            return collet_fail(err, COLLET_INVALID,
                               "%" PRId64 " x %" PRId64 " x %" PRId64
                               " voxels: each extent is 1 or more, all together 2^40 at most",
                               o->shape[0], o->shape[1], o->shape[2]);
        voxels *= o->shape[a];
    }
    if (!(o->voxel > 0.0) || !isfinite(o->voxel))
        return collet_fail(err, COLLET_INVALID, "the edge of a voxel is %g nm", o->voxel);
    if (o->n_materials < 1 || !o->materials)
        return collet_fail(err, COLLET_INVALID, "there is no material");
    return COLLET_OK;
}

static collet_status check_beam(const collet_scattering_options *o, collet_error *err)
{
    const double *k = o->direction, *a = o->angles;
    int none = k[0] == 0.0 && k[1] == 0.0 && k[2] == 0.0;
    if (!none && (!(k[2] > 0.0) || !isfinite(k[0]) || !isfinite(k[1]) || !isfinite(k[2])))
        return collet_fail(err, COLLET_INVALID,
                           "the beam's direction is %g, %g, %g: its z must be positive", k[0], k[1],
                           k[2]);
    if (!isfinite(a[0]) || !isfinite(a[1]) || !isfinite(a[2]) || a[1] < 0.0 ||
        (a[1] > 0.0 && !(a[2] >= a[0] && (a[2] - a[0]) / a[1] < 1e5)))
        return collet_fail(err, COLLET_INVALID,
                           "angles of polarisation from %g by %g to %g degrees", a[0], a[1], a[2]);
    return COLLET_OK;
}

static collet_status check_energies(const collet_scattering_options *o, collet_error *err)
{
    if (o->n_energies < 1 || !o->energies || !o->constants)
        return collet_fail(err, COLLET_INVALID, "there is no energy");
    for (int64_t e = 0; e < o->n_energies; e++) {
        if (!(o->energies[e] > 0.0) || !isfinite(o->energies[e]))
            return collet_fail(err, COLLET_INVALID, "energy %" PRId64 " is %g eV", e + 1,
                               o->energies[e]);
        for (int64_t m = 0; m < o->n_materials; m++) {
            const collet_scattering_constants *c = &o->constants[e * o->n_materials + m];
            if (!(fabs(c->delta_parallel) <= CONSTANT_MAX &&
                  fabs(c->beta_parallel) <= CONSTANT_MAX &&
                  fabs(c->delta_perpendicular) <= CONSTANT_MAX &&
                  fabs(c->beta_perpendicular) <= CONSTANT_MAX))
                return collet_fail(err, COLLET_INVALID,
                                   "material %" PRId64
                                   ": a constant at %g eV is not from -1000 to 1000",
                                   m + 1, o->energies[e]);
        }
    }
    return COLLET_OK;
}

static collet_status check_material(const collet_scattering_options *o, int64_t m,
                                    collet_error *err)
{
    const collet_scattering_material *a = &o->materials[m];
    if (a->dtype != COLLET_F32 && a->dtype != COLLET_F64)
        return collet_fail(err, COLLET_INVALID, "material %" PRId64 ": dtype is %s, not f32 or f64",
                           m + 1, collet_dtype_name(a->dtype));
    if (!a->volume == !a->direction)
        return collet_fail(err, COLLET_INVALID,
                           "material %" PRId64
                           ": either `volume` (Euler angles) or `direction` (vectors) is given",
                           m + 1);
    if (a->direction ? !a->unaligned : a->alignment && (!a->theta || !a->psi))
        return collet_fail(err, COLLET_INVALID, "material %" PRId64 ": %s missing", m + 1,
                           a->direction ? "`unaligned` is" : "`theta` or `psi` is");
    return COLLET_OK;
}

collet_status scatter_check_options(const collet_scattering_options *o, collet_error *err)
{
    collet_status status = check_sizes(o, err);
    if (status == COLLET_OK && (o->road > 1 || o->grid > 1))
        status = collet_fail(err, COLLET_INVALID, "unknown %s %u", o->road > 1 ? "road" : "grid",
                             o->road > 1 ? o->road : o->grid);
    if (status == COLLET_OK)
        status = check_beam(o, err);
    if (status == COLLET_OK)
        status = check_energies(o, err);
    for (int64_t m = 0; m < o->n_materials && status == COLLET_OK; m++)
        status = check_material(o, m, err);
    return status;
}

/* ---- Voxels ---------------------------------------------------------------------------------- */

static double element(const void *values, collet_dtype dtype, int64_t i)
{
    return dtype == COLLET_F64 ? ((const double *)values)[i] : (double)((const float *)values)[i];
}

static collet_status fault(const collet_scattering_options *o, int64_t m, const char *what,
                           int64_t voxel, double value, const char *expected, collet_error *err)
{
    const int64_t *n = o->shape;
    char material[40] = "";
    if (m >= 0)
        snprintf(material, sizeof material, "material %" PRId64 ": ", m + 1);
    return collet_fail(err, COLLET_INVALID,
                       "%s%s at voxel z %" PRId64 ", y %" PRId64 ", x %" PRId64 " is %.9g, not %s",
                       material, what, voxel / n[2] / n[1], voxel / n[2] % n[1], voxel % n[2],
                       value, expected);
}

/* Fractions of 0 to 1, angles and components finite. */
static collet_status check_values(const collet_scattering_options *o, int64_t m, const void *values,
                                  const char *what, int fraction, int64_t begin, int64_t end,
                                  int64_t width, collet_error *err)
{
    for (int64_t i = begin * width; values && i < end * width; i++) {
        double x = element(values, o->materials[m].dtype, i);
        if (fraction ? !(x >= -SUM_TOLERANCE && x <= 1.0 + SUM_TOLERANCE) : !isfinite(x))
            return fault(o, m, what, i / width, x, fraction ? "from 0 to 1" : "finite", err);
    }
    return COLLET_OK;
}

/* Checks voxels begin .. end-1 of a material, and adds its volume fractions to `sum`. */
static collet_status check_part(const collet_scattering_options *o, int64_t m, int64_t begin,
                                int64_t end, double *sum, collet_error *err)
{
    const collet_scattering_material *a = &o->materials[m];
    const struct {
        const void *values;
        const char *what;
        int fraction, width;
    } arrays[] = {{a->volume, "the volume fraction", 1, 1},
                  {a->alignment, "the alignment", 1, 1},
                  {a->theta, "theta", 0, 1},
                  {a->psi, "psi", 0, 1},
                  {a->unaligned, "the unaligned fraction", 1, 1},
                  {a->direction, "the alignment vector", 0, 3}};
    collet_status status = COLLET_OK;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays && status == COLLET_OK; k++)
        status = check_values(o, m, arrays[k].values, arrays[k].what, arrays[k].fraction, begin,
                              end, arrays[k].width, err);
    for (int64_t i = begin; i < end && status == COLLET_OK; i++) {
        sum[i - begin] += element(a->volume ? a->volume : a->unaligned, a->dtype, i);
        for (int64_t c = 3 * i; a->direction && c < 3 * i + 3; c++) {
            double x = element(a->direction, a->dtype, c);
            sum[i - begin] += x * x;
        }
    }
    return status;
}

collet_status scatter_check_voxels(const collet_scattering_options *o, collet_error *err)
{
    int64_t voxels = o->shape[0] * o->shape[1] * o->shape[2];
    for (int64_t begin = 0; begin < voxels; begin += CHUNK) {
        double sum[CHUNK] = {0.0};
        int64_t end = begin + CHUNK < voxels ? begin + CHUNK : voxels;
        for (int64_t m = 0; m < o->n_materials; m++) {
            collet_status status = check_part(o, m, begin, end, sum, err);
            if (status != COLLET_OK)
                return status;
        }
        for (int64_t i = begin; i < end; i++)
            if (fabs(sum[i - begin] - 1.0) > SUM_TOLERANCE)
                return fault(o, -1, "the sum of the materials' volume fractions", i, sum[i - begin],
                             "1", err);
    }
    return COLLET_OK;
}
