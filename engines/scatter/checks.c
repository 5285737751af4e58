/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/scatter/test_scatter.c, tests/tools/rsoxs/test_rsoxs_validate.c */
#include "scatter/checks.h"
#include "scatter/files/input.h"
#include "scatter/geometry.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define SUM_TOLERANCE 1e-5
#define ALIGNMENT_TOLERANCE 1e-4 /* S may be the quotient of two sums of f32 numbers */
#define CHUNK 1024

/* ---- Options --------------------------------------------------------------------------------- */

static collet_status check_sizes(const collet_scatter_options *o, collet_error *err)
{
    int64_t voxels = 1;
    if (o->dtype != COLLET_F32 && o->dtype != COLLET_F64)
        return collet_fail(err, COLLET_INVALID, "dtype is %s; it must be f32 or f64",
                           collet_dtype_name(o->dtype));
    for (int a = 0; a < 3; a++) {
        if (o->shape[a] < 1 || o->shape[a] > INT32_MAX || voxels > (INT64_C(1) << 40) / o->shape[a])
            return collet_fail(
                err, COLLET_INVALID,
                "%" PRId64 " x %" PRId64 " x %" PRId64
                " voxels: each extent must be at least 1, and their product at most 2^40",
                o->shape[0], o->shape[1], o->shape[2]);
        voxels *= o->shape[a];
    }
    if (!(o->voxel > 0.0) || !isfinite(o->voxel))
        return collet_fail(err, COLLET_INVALID,
                           "the edge of a voxel is %g nm; it must be positive and finite",
                           o->voxel);
    if (o->n_materials < 1 || !o->materials)
        return collet_fail(err, COLLET_INVALID, "no materials are given; at least one is needed");
    return COLLET_OK;
}

collet_status scatter_check_beam(const collet_scatter_options *o, collet_error *err)
{
    const double *k = o->direction, *a = o->angles;
    int none = k[0] == 0.0 && k[1] == 0.0 && k[2] == 0.0;
    if (!none && (!(k[2] > 0.0) || !isfinite(k[0]) || !isfinite(k[1]) || !isfinite(k[2])))
        return collet_fail(err, COLLET_INVALID,
                           "the beam's direction is %g, %g, %g: all must be finite and z positive",
                           k[0], k[1], k[2]);
    const double *n = o->detector;
    double warp[2][2];
    if (!isfinite(n[0]) || !isfinite(n[1]) || !isfinite(n[2]) ||
        !(fabs(scatter_warp_of(warp, o->direction, o->detector)) >= 1e-6))
        return collet_fail(
            err, COLLET_INVALID,
            "the detector's normal is %g, %g, %g: the beam along %g, %g, %g would meet "
            "the detector at its edge, or the normal points along -z",
            n[0], n[1], n[2], k[0], k[1], k[2]);
    if (!isfinite(a[0]) || !isfinite(a[1]) || !isfinite(a[2]) || a[1] < 0.0 ||
        (a[1] > 0.0 && !(a[2] >= a[0] && (a[2] - a[0]) / a[1] < 1e5)))
        return collet_fail(
            err, COLLET_INVALID, "angles of polarisation from %g by %g to %g degrees: %s", a[0],
            a[1], a[2],
            a[1] < 0.0                                   ? "the step is negative"
            : a[2] < a[0]                                ? "the last is before the first"
            : a[1] > 0.0 && isfinite(a[0] + a[1] + a[2]) ? "at most 100000 are supported"
                                                         : "they must be finite");
    return COLLET_OK;
}

static collet_status check_constants(const collet_scatter_constants *c, int64_t m, double energy,
                                     collet_error *err)
{
    static const char *const names[] = {"delta along", "beta along", "delta across", "beta across"};
    const double values[] = {c->delta_parallel, c->beta_parallel, c->delta_perpendicular,
                             c->beta_perpendicular};
    for (int i = 0; i < 4; i++)
        if (!(fabs(values[i]) <= SCATTER_CONSTANT_MAX))
            return collet_fail(
                err, COLLET_INVALID,
                "material %" PRId64 ": %s the direction is %g at %g eV; it must be from "
                "%d to %d",
                m + 1, names[i], values[i], energy, -SCATTER_CONSTANT_MAX, SCATTER_CONSTANT_MAX);
    return COLLET_OK;
}

collet_status scatter_check_energy(const collet_scatter_options *o, int64_t e, collet_error *err)
{
    if (!(o->energies[e] > 0.0) || !isfinite(o->energies[e]))
        return collet_fail(err, COLLET_INVALID,
                           "energy %" PRId64 " is %g eV; it must be positive and finite", e + 1,
                           o->energies[e]);
    collet_status status = COLLET_OK;
    for (int64_t m = 0; o->constants && m < o->n_materials && status == COLLET_OK; m++)
        status = check_constants(&o->constants[e * o->n_materials + m], m, o->energies[e], err);
    if (status != COLLET_OK)
        return status;
    double nearest;
    return o->shape[0] > 0 && o->voxel > 0.0 && !scatter_reaches(o, o->energies[e], &nearest)
               ? collet_fail(
                     err, COLLET_INVALID,
                     "at %g eV Ewald's sphere meets no pixel of the detector: its radius is %.3g "
                     "1/nm, but the pixel next to the middle is at %.3g 1/nm; check the units: "
                     "energies are in eV, the edge of a voxel (%g) in nm",
                     o->energies[e], scatter_wave(o->energies[e]), nearest, o->voxel)
               : COLLET_OK;
}

static collet_status check_energies(const collet_scatter_options *o, collet_error *err)
{
    collet_status status = COLLET_OK;
    if (o->n_energies < 1 || !o->energies || !o->constants)
        return collet_fail(err, COLLET_INVALID,
                           "no energies or no constants are given; at least one energy is needed");
    for (int64_t e = 0; e < o->n_energies && status == COLLET_OK; e++)
        status = scatter_check_energy(o, e, err);
    return status;
}

int scatter_count_arrays(const collet_scatter_material *a)
{
    return a->kind == COLLET_SCATTER_EULER ? 4 : a->kind == COLLET_SCATTER_VECTOR ? 2 : 1;
}

static int is_dense(const collet_array *array)
{
    int64_t stride = 1;
    for (int32_t i = collet_array_ndim(array) - 1; i >= 0; i--) {
        if (collet_array_strides(array)[i] != stride)
            return 0;
        stride *= collet_array_shape(array)[i];
    }
    return 1;
}

static collet_status check_arrays(const collet_scatter_options *o, int64_t m, collet_error *err)
{
    const collet_scatter_material *a = &o->materials[m];
    if (o->layers)
        return collet_fail(err, COLLET_REFUSED,
                           "material %" PRId64 " has arrays, but a callback reads the layers: give one of the two", m + 1);
    if (a->volume || a->direction)
        return collet_fail(err, COLLET_INVALID, "material %" PRId64 " has arrays and addresses: give one of the two", m + 1);
    for (int i = 0; i < scatter_count_arrays(a); i++) {
        const collet_array *array = a->arrays[i];
        const int64_t shape[] = {o->shape[0], o->shape[1], o->shape[2], 3};
        int32_t ndim = a->kind == COLLET_SCATTER_VECTOR && i == 0 ? 4 : 3;
        int good = array && collet_array_dtype(array) == a->dtype && collet_array_ndim(array) == ndim;
        for (int32_t axis = 0; good && axis < ndim; axis++)
            good = collet_array_shape(array)[axis] == shape[axis];
        if (!good || !is_dense(array))
            return collet_fail(err, COLLET_INVALID,
                               "material %" PRId64 ": array %d must be a C-contiguous array of %s with %d axes and %" PRId64
                               " x %" PRId64 " x %" PRId64 " voxels",
                               m + 1, i + 1, collet_dtype_name(a->dtype), (int)ndim, shape[0], shape[1], shape[2]);
    }
    return COLLET_OK;
}

static collet_status check_material(const collet_scatter_options *o, int64_t m,
                                    collet_error *err)
{
    const collet_scatter_material *a = &o->materials[m];
    if (a->dtype != COLLET_F32 && a->dtype != COLLET_F64)
        return collet_fail(err, COLLET_INVALID,
                           "material %" PRId64 ": dtype is %s; it must be f32 or f64", m + 1,
                           collet_dtype_name(a->dtype));
    if (a->kind > COLLET_SCATTER_VECTOR || ((o->layers || a->arrays) && !a->kind))
        return collet_fail(err, COLLET_INVALID, "material %" PRId64 ": unknown kind %u", m + 1, a->kind);
    if (a->arrays)
        return check_arrays(o, m, err);
    if (o->layers)
        return COLLET_OK;
    if (!a->volume == !a->direction)
        return collet_fail(err, COLLET_INVALID,
                           "material %" PRId64
                           ": give either `volume` (Euler angles) or `direction` (vectors)",
                           m + 1);
    if (a->direction ? !a->unaligned : a->alignment && (!a->theta || !a->psi))
        return collet_fail(err, COLLET_INVALID, "material %" PRId64 ": %s missing", m + 1,
                           a->direction ? "`unaligned` is" : "`theta` or `psi` is");
    return COLLET_OK;
}

collet_status scatter_check_options(const collet_scatter_options *o, collet_error *err)
{
    collet_status status = check_sizes(o, err);
    if (status == COLLET_OK && (o->method > 1 || o->grid > COLLET_SCATTER_FFT))
        status =
            collet_fail(err, COLLET_INVALID, "unknown %s %u", o->method > 1 ? "method" : "grid",
                        o->method > 1 ? o->method : o->grid);
    if (status == COLLET_OK && o->grid == COLLET_SCATTER_EXACT && (o->nearest || o->neighbours))
        status = collet_fail(err, COLLET_INVALID,
                             "the option %s is for the grids cyrsoxs and fft: the exact grid has no slices along z, "
                             "and the intensity at q = 0 is in one pixel only",
                             o->nearest ? "nearest" : "neighbours");
    const double *range = o->energy_range;
    if (status == COLLET_OK && (!(range[0] >= 0.0) || !(range[1] >= range[0]) || !isfinite(range[1])))
        status = collet_fail(err, COLLET_INVALID, "the range of energies is %g to %g eV", range[0], range[1]);
    if (status == COLLET_OK)
        status = scatter_check_beam(o, err);
    if (status == COLLET_OK)
        status = check_energies(o, err);
    for (int64_t m = 0; m < o->n_materials && status == COLLET_OK; m++)
        status = check_material(o, m, err);
    return status;
}

/* ---- Voxels ---------------------------------------------------------------------------------- */

/* Handles a faulty voxel: counts it, or makes it an error. */
static collet_status fault(const scatter_voxels *v, int64_t m, int kind, int64_t voxel,
                           double value)
{
    static const char *const what[] = {"the volume fraction",
                                       "the alignment",
                                       "theta",
                                       "psi",
                                       "the unaligned fraction",
                                       "the alignment vector",
                                       "the sum of the materials' volume fractions"};
    static const char *const expected[] = {"from 0 to 1", "from 0 to 1", "finite", "finite",
                                           "from 0 to 1", "finite",      "1"};
    const int64_t *n = v->options->shape;
    char material[40] = "";
    voxel += v->before;
    if (v->faults) {
        scatter_fault *f = &v->faults[SCATTER_KINDS * m + (kind == SCATTER_SUM ? 0 : kind)];
        f->what = what[kind];
        f->expected = expected[kind];
        if (f->count < SCATTER_SHOWN) {
            f->first[f->count][0] = voxel / n[2] / n[1];
            f->first[f->count][1] = voxel / n[2] % n[1];
            f->first[f->count][2] = voxel % n[2];
            f->values[f->count] = value;
        }
        f->count++;
        return COLLET_OK;
    }
    if (kind != SCATTER_SUM)
        snprintf(material, sizeof material, "material %" PRId64 ": ", m + 1);
    return collet_fail(v->err, COLLET_INVALID,
                       "%s%s at voxel z %" PRId64 ", y %" PRId64 ", x %" PRId64
                       " is %.9g; it must be %s",
                       material, what[kind], voxel / n[2] / n[1], voxel / n[2] % n[1], voxel % n[2],
                       value, expected[kind]);
}

static int is_angle(int kind)
{
    return kind == 2 || kind == 3;
}

/* 1 if voxel i has a direction; otherwise its angles are not used. */
static int is_aligned(const collet_scatter_material *a, int64_t i)
{
    return a->alignment && scatter_element(a->alignment, a->dtype, i) != 0.0;
}

/* Checks that fractions are 0 to 1, and angles and components finite. */
static collet_status check_values(const scatter_voxels *v, int64_t m, const void *values, int kind,
                                  int64_t begin, int64_t end)
{
    const collet_scatter_material *a = &v->options->materials[m];
    int fraction = kind < 2 || kind == 4, width = kind == 5 ? 3 : 1;
    double tolerance = kind == 1 ? ALIGNMENT_TOLERANCE : SUM_TOLERANCE;
    int64_t last = -1; /* several faulty components of a vector are one fault */
    for (int64_t i = begin * width; values && i < end * width; i++) {
        double x = scatter_element(values, a->dtype, i);
        int good = fraction ? x >= -tolerance && x <= 1.0 + tolerance : isfinite(x);
        if (i / width != last && !good && (!is_angle(kind) || is_aligned(a, i))) {
            last = i / width;
            collet_status status = fault(v, m, kind, last, x);
            if (status != COLLET_OK)
                return status;
        }
    }
    return COLLET_OK;
}

collet_status scatter_check_part(const scatter_voxels *v, int64_t m, int64_t begin, int64_t end,
                                 double *sum)
{
    const collet_scatter_material *a = &v->options->materials[m];
    const void *const arrays[] = {a->volume, a->alignment, a->theta,
                                  a->psi,    a->unaligned, a->direction};
    const void *isotropic = a->volume ? a->volume : a->unaligned;
    collet_status status = COLLET_OK;
    for (int kind = 0; kind < SCATTER_SUM && status == COLLET_OK; kind++)
        status = check_values(v, m, arrays[kind], kind, begin, end);
    for (int64_t i = begin; i < end && status == COLLET_OK; i++) {
        sum[i - begin] += isotropic ? scatter_element(isotropic, a->dtype, i) : 0.0;
        for (int64_t c = 3 * i; a->direction && c < 3 * i + 3; c++) {
            double x = scatter_element(a->direction, a->dtype, c);
            sum[i - begin] += x * x;
        }
    }
    return status;
}

collet_status scatter_check_sums(const scatter_voxels *v, int64_t begin, int64_t end,
                                 const double *sum)
{
    collet_status status = COLLET_OK;
    for (int64_t i = begin; i < end && status == COLLET_OK; i++)
        if (fabs(sum[i - begin] - 1.0) > SUM_TOLERANCE)
            status = fault(v, v->options->n_materials, SCATTER_SUM, i, sum[i - begin]);
    return status;
}

collet_status scatter_check_voxels(const collet_scatter_options *o, collet_error *err)
{
    const scatter_voxels v = {.options = o, .err = err};
    int64_t voxels = o->shape[0] * o->shape[1] * o->shape[2];
    collet_status status = COLLET_OK;
    for (int64_t begin = 0; begin < voxels && status == COLLET_OK; begin += CHUNK) {
        double sum[CHUNK] = {0.0};
        int64_t end = begin + CHUNK < voxels ? begin + CHUNK : voxels;
        for (int64_t m = 0; m < o->n_materials && status == COLLET_OK; m++)
            status = scatter_check_part(&v, m, begin, end, sum);
        if (status == COLLET_OK)
            status = scatter_check_sums(&v, begin, end, sum);
    }
    return status;
}
