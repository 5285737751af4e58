/* SPDX-License-Identifier: Apache-2.0 */
/* The fast method. The polarisation is a sum of fields that do not depend on the energy, so each
 * field is transformed once; an energy needs the spectra only on Ewald's sphere (slices.c). The intensity is a
 * quadratic form of cos and sin of the angle, so three images give the images of all angles.
 * Tests: tests/engines/scatter/test_scatter.c */
#include <math.h>
#include <stdlib.h>

#include "scatter/arrays.h"
#include "scatter/geometry.h"
#include "scatter/methods.h"

/* Coefficients of all fields: shape [count, 6, fields], stored as [6, fields, count]. */
static collet_status weights_of(collet_scatter *s, int64_t count, collet_array **out)
{
    static const int32_t order[] = {2, 0, 1};
    int64_t fields = s->plan.fields, materials = s->options.n_materials;
    double(*one)[2] = calloc((size_t)(6 * fields), sizeof *one);
    double(*all)[2] = calloc((size_t)(6 * fields * count), sizeof *all);
    collet_array *memory = NULL;
    for (int64_t e = 0; one && all && e < count; e++) {
        for (int64_t m = 0; m < materials; m++) {
            double c[3][2];
            scatter_constants(&s->options.constants[(s->next + e) * materials + m], c);
            scatter_weights(s->axis, c, s->parts[m].count, fields, one + s->parts[m].first);
        }
        for (int64_t i = 0; i < 6 * fields; i++)
            for (int part = 0; part < 2; part++)
                all[i * count + e][part] = one[i][part];
    }
    collet_status status =
        one && all ? scatter_numbers(s, &memory, scatter_complex(s), 3,
                                     SCATTER_SHAPE(6, fields, count), &all[0][0])
                   : collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for coefficients");
    if (status == COLLET_OK && collet_array_permute(s->context, memory, out, order) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "coefficients");
    collet_array_destroy(memory);
    free(one);
    free(all);
    return status;
}

/* For each angle of polarisation, the weights of the three images: 1, and cos and sin of twice the angle. */
static void three_parts(const collet_scatter *s, double *weights)
{
    for (int64_t i = 0; i < s->angles; i++) {
        weights[3 * i] = 1.0;
        weights[3 * i + 1] = cos(2 * s->radians[i]);
        weights[3 * i + 2] = sin(2 * s->radians[i]);
    }
}

/* Weights if each angle has its own image. */
static void all_angles(const collet_scatter *s, double *weights)
{
    for (int64_t i = 0; i < s->angles; i++)
        weights[i * s->angles + i] = 1.0;
}

/* Images: shape [block, K, Y, X], stored as [Y, X, K, block], so that energies are adjacent. */
static collet_status make_images(collet_scatter *s, int64_t kinds)
{
    static const int32_t order[] = {3, 2, 0, 1};
    const int64_t *n = s->options.shape;
    collet_array *memory;
    collet_status status = scatter_array(s, &memory, s->options.dtype, 4,
                                         SCATTER_SHAPE(n[1], n[2], kinds, s->plan.block));
    if (status == COLLET_OK &&
        collet_array_permute(s->context, memory, &s->images, order) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "images");
    collet_array_destroy(memory);
    return status;
}

/* Computes the images of `count` energies from s->next on. */
static collet_status fill_images(collet_scatter *s, int64_t count, int64_t kinds,
                                 collet_array *images)
{
    const int64_t *n = s->options.shape;
    collet_scatter_params params = {.struct_size = sizeof params, .nearest = s->options.nearest};
    collet_scatter_params exactly = scatter_exact_params(s);
    collet_array *weights = NULL, *range = NULL, *angles = NULL, *nodes = NULL, *interval = NULL;
    scatter_sphere sphere = {0};
    collet_status status = scatter_waves(s, s->next, count, &sphere);
    if (status == COLLET_OK)
        status = weights_of(s, count, &weights);
    if (status == COLLET_OK && s->options.material_frame)
        status = scatter_numbers(s, &angles, COLLET_F64, 1, &kinds, s->radians);
    if (status == COLLET_OK && scatter_is_exact(s))
        status = scatter_exact_arrays(s, 0, &nodes, &interval);
    else if (
        status == COLLET_OK &&
        collet_array_wrap(s->context, &range, COLLET_I32, 3, SCATTER_SHAPE(2, n[1], n[2]), NULL,
                          s->range, COLLET_WRAP_READONLY, NULL, NULL) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "writing the slices of pixels");
    collet_array *arrays[] = {images,      s->slices,   range,       weights, sphere.k,
                              sphere.q[0], sphere.q[1], sphere.q[2], angles};
    collet_array *exact[] = {images,   s->slices,   nodes,       interval, weights,
                             sphere.k, sphere.q[0], sphere.q[1], angles};
    if (status == COLLET_OK)
        status = range ? scatter_call(s, "scatter_images", arrays, 1, &params)
                       : scatter_call(s, "scatter_intensities", exact, 1, &exactly);
    collet_array_destroy(weights);
    collet_array_destroy(angles);
    collet_array_destroy(range);
    collet_array_destroy(nodes);
    collet_array_destroy(interval);
    scatter_sphere_free(&sphere);
    return status;
}

collet_status scatter_fast(collet_scatter *s, int64_t count)
{
    int64_t kinds = s->options.material_frame ? s->angles : 3;
    double *weights = calloc((size_t)(s->angles * kinds), sizeof *weights);
    collet_array *images = NULL;
    collet_status status =
        weights ? COLLET_OK : collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for weights");
    if (status == COLLET_OK && (s->next < s->sliced[0] || s->next >= s->sliced[1]))
        status = scatter_slices(s);
    if (status == COLLET_OK && !s->images)
        status = make_images(s, kinds);
    if (status == COLLET_OK)
        status = scatter_at(s, &images, s->images, 0, count, 0);
    if (status == COLLET_OK)
        status = fill_images(s, count, kinds, images);
    if (status == COLLET_OK) {
        (s->options.material_frame ? all_angles : three_parts)(s, weights);
        status = scatter_mean(s, images, kinds, weights, 0, count);
    }
    for (int64_t e = 0; e < count && status == COLLET_OK; e++)
        status = scatter_step(s, "scattering");
    collet_array_destroy(images);
    free(weights);
    return status;
}
