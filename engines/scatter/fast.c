/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast road. The polarisation is a sum of fields that do not depend on the energy, so each
 * field is transformed once; an energy needs its spectra on Ewald's sphere alone. The intensity is
 * a quadratic form of cos and sin of the angle, so images of three angles give those of all.
 */
#include <math.h>
#include <stdlib.h>

#include "scatter/arrays.h"
#include "scatter/geometry.h"
#include "scatter/roads.h"

/* ---- Spectra --------------------------------------------------------------------------------- */

/* The spectra of material m, into elements first .. of s->spectra. */
static collet_status transform(collet_scattering *s, int64_t m, int64_t first)
{
    const int64_t *n = s->options.shape;
    int64_t count = s->parts[m].count;
    collet_array *fields = NULL, *target = NULL;
    collet_status status =
        scatter_array(s, &fields, s->options.dtype, 4, SCATTER_SHAPE(count, n[0], n[1], n[2]));
    if (status == COLLET_OK)
        status = scatter_fields(s, m, fields);
    if (status == COLLET_OK)
        status = scatter_at(s, &target, s->spectra, first, count, 0);
    if (status == COLLET_OK) {
        status = collet_fft(s->context, target, fields, 3, 0);
        if (status != COLLET_OK)
            status = scatter_failed(s, status, "the transform");
    }
    collet_array_free(fields);
    collet_array_free(target);
    return status == COLLET_OK ? scatter_step(s, "transforming") : status;
}

static collet_status make_spectra(collet_scattering *s)
{
    const int64_t *n = s->options.shape;
    int64_t count = 0;
    for (int64_t m = 0; m < s->options.n_materials; m++)
        count = s->plan.resident            ? s->plan.fields
                : s->parts[m].count > count ? s->parts[m].count
                                            : count;
    collet_status status = COLLET_OK;
    if (s->spectra)
        return status;
    status = scatter_array(s, &s->spectra, scatter_complex(s), 4,
                           SCATTER_SHAPE(count, n[0], n[1], n[2] / 2 + 1));
    for (int64_t m = 0; m < s->options.n_materials && s->plan.resident && status == COLLET_OK; m++)
        status = transform(s, m, s->parts[m].first);
    if (status != COLLET_OK) {
        collet_array_free(s->spectra);
        s->spectra = NULL;
    }
    return status;
}

/* ---- Amplitudes ------------------------------------------------------------------------------ */

/* Coefficients [count, 6, fields] of the fields of materials m .. end-1. */
static collet_status weights_of(collet_scattering *s, int64_t m, int64_t end, int64_t energy,
                                int64_t count, collet_array **out)
{
    int64_t first = s->parts[m].first;
    int64_t fields = s->parts[end - 1].first + s->parts[end - 1].count - first;
    double(*weights)[2] = calloc((size_t)(count * 6 * fields) + 1, sizeof *weights);
    if (!weights)
        return collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for coefficients");
    for (int64_t e = 0; e < count; e++)
        for (int64_t i = m; i < end; i++) {
            double c[3][2];
            scatter_constants(&s->options.constants[(energy + e) * s->options.n_materials + i], c);
            scatter_weights(s->axis, c, s->parts[i].count, fields,
                            weights + e * 6 * fields + s->parts[i].first - first);
        }
    collet_status status = scatter_numbers(s, out, scatter_complex(s), 3,
                                           SCATTER_SHAPE(count, 6, fields), &weights[0][0]);
    free(weights);
    return status;
}

/* Adds materials m .. end-1 to the amplitudes of both slices. */
static collet_status add_materials(collet_scattering *s, int64_t m, int64_t end, int64_t energy,
                                   int64_t count, const scatter_sphere *sphere,
                                   collet_array *const amplitude[2])
{
    collet_array *weights = NULL, *spectra = NULL;
    int64_t fields = s->parts[end - 1].first + s->parts[end - 1].count - s->parts[m].first;
    collet_status status = weights_of(s, m, end, energy, count, &weights);
    if (status == COLLET_OK)
        status = scatter_at(s, &spectra, s->spectra, 0, fields, 0);
    for (uint32_t i = 0; i < 2 && amplitude[i] && status == COLLET_OK; i++) {
        collet_scatter_params params = {
            .struct_size = sizeof params, .neighbours = s->options.neighbours, .offset = i};
        collet_array *arrays[] = {amplitude[i], spectra, weights, sphere->slice,
                                  m ? amplitude[i] : NULL};
        status = scatter_call(s, "scatter_amplitude", arrays, 1, &params);
    }
    collet_array_free(weights);
    collet_array_free(spectra);
    return status;
}

/* The amplitudes of both slices for `count` energies from `energy` on. */
static collet_status amplitudes(collet_scattering *s, int64_t energy, int64_t count,
                                const scatter_sphere *sphere, collet_array *const amplitude[2])
{
    int64_t materials = s->options.n_materials;
    if (s->plan.resident)
        return add_materials(s, 0, materials, energy, count, sphere, amplitude);
    collet_status status = COLLET_OK;
    for (int64_t m = 0; m < materials && status == COLLET_OK; m++) {
        status = transform(s, m, 0);
        if (status == COLLET_OK)
            status = add_materials(s, m, m + 1, energy, count, sphere, amplitude);
    }
    return status;
}

/* ---- Patterns -------------------------------------------------------------------------------- */

/* The weights of the images of 0, 90 and 45 degrees in that of each angle. */
static void three_angles(const collet_scattering *s, double *weights)
{
    for (int64_t i = 0; i < s->angles; i++) {
        double a = cos(s->radians[i]), b = sin(s->radians[i]);
        weights[3 * i] = a * a - a * b;
        weights[3 * i + 1] = b * b - a * b;
        weights[3 * i + 2] = 2 * a * b;
    }
}

/* An image for each angle. */
static void all_angles(const collet_scattering *s, double *weights)
{
    for (int64_t i = 0; i < s->angles; i++)
        weights[i * s->angles + i] = 1.0;
}

/* Images [count, K, Y, X], in memory [Y, X, K, count]: scatter_average is fastest so. */
static collet_status make_images(collet_scattering *s, int64_t count, int64_t kinds,
                                 collet_array **out)
{
    static const int32_t order[] = {3, 2, 0, 1};
    const int64_t *n = s->options.shape;
    collet_array *memory;
    collet_status status =
        scatter_array(s, &memory, s->options.dtype, 4, SCATTER_SHAPE(n[1], n[2], kinds, count));
    if (status == COLLET_OK && collet_array_permute(s->context, out, memory, order) != COLLET_OK)
        status = scatter_failed(s, COLLET_FAILED, "images");
    collet_array_free(memory);
    return status;
}

static collet_status intensities(collet_scattering *s, const scatter_sphere *sphere,
                                 collet_array *const amplitude[2], int64_t kinds,
                                 const double *angles, collet_array *images)
{
    collet_scatter_params params = {.struct_size = sizeof params, .material = s->options.material};
    collet_array *angle = NULL;
    collet_status status = scatter_numbers(s, &angle, COLLET_F64, 1, &kinds, angles);
    collet_array *arrays[] = {images,           amplitude[0], amplitude[1], sphere->slice,
                              sphere->fraction, sphere->k,    sphere->q[0], sphere->q[1],
                              sphere->q[2],     angle};
    if (status == COLLET_OK)
        status = scatter_call(s, "scatter_intensity", arrays, 1, &params);
    collet_array_free(angle);
    return status;
}

/* The images of `count` energies from `energy` on, the first of which is number `at` of `images`.
 */
static collet_status add_images(collet_scattering *s, int64_t energy, int64_t count, int64_t kinds,
                                collet_array *images, int64_t at)
{
    static const double quarter[] = {0.0, 1.57079632679489661923, 0.78539816339744830962};
    const int64_t *n = s->options.shape;
    int two = n[0] > 1 && !s->options.nearest;
    collet_array *amplitude[2] = {NULL, NULL}, *part = NULL;
    scatter_sphere sphere = {0};
    collet_status status = scatter_sphere_make(s, energy, count, &sphere);
    for (int i = 0; i < 1 + two && status == COLLET_OK; i++)
        status = scatter_array(s, &amplitude[i], scatter_complex(s), 4,
                               SCATTER_SHAPE(count, 6, n[1], n[2]));
    if (status == COLLET_OK)
        status = amplitudes(s, energy, count, &sphere, amplitude);
    if (status == COLLET_OK)
        status = scatter_at(s, &part, images, at, count, 0);
    if (status == COLLET_OK)
        status = intensities(s, &sphere, amplitude, kinds,
                             s->options.material ? s->radians : quarter, part);
    for (int i = 0; i < 2; i++)
        collet_array_free(amplitude[i]);
    collet_array_free(part);
    scatter_sphere_free(&sphere);
    for (int64_t e = 0; e < count && status == COLLET_OK; e++)
        status = scatter_step(s, "scattering");
    return status;
}

collet_status scatter_fast(collet_scattering *s, int64_t count)
{
    int64_t kinds = s->options.material ? s->angles : 3;
    double *weights = calloc((size_t)(s->angles * kinds), sizeof *weights);
    collet_array *images = NULL;
    collet_status status =
        weights ? make_spectra(s) : collet_fail(&s->error, COLLET_NO_MEMORY, "no memory");
    if (status == COLLET_OK)
        status = make_images(s, count, kinds, &images);
    for (int64_t at = 0, n; at < count && status == COLLET_OK; at += n) {
        n = count - at < s->at_a_time ? count - at : s->at_a_time;
        status = add_images(s, s->next + at, n, kinds, images, at);
    }
    if (status == COLLET_OK) {
        (s->options.material ? all_angles : three_angles)(s, weights);
        status = scatter_mean(s, images, kinds, weights, 0, count);
    }
    collet_array_free(images);
    free(weights);
    return status;
}
