/* SPDX-License-Identifier: Apache-2.0 */
/* The direct method: polarisation, transform and projection for each energy and angle.
 * Tests: tests/engines/scatter/test_scatter.c */
#include <math.h>
#include <stdlib.h>

#include <collet/ops/array.h>
#include <collet/ops/fft.h>

#include "scatter/arrays.h"
#include "scatter/geometry.h"
#include "scatter/methods.h"

static collet_status fill_layers(collet_scatter *s, int64_t m, int64_t first, int64_t count)
{
    collet_array *material = NULL, *part = NULL, *layers = NULL;
    collet_status status = scatter_at(s, &material, s->fields, m, 1, 1);
    if (status == COLLET_OK)
        status = scatter_at(s, &part, material, 0, s->parts[m].count, 0);
    if (status == COLLET_OK &&
        collet_array_slice(s->context, part, &layers, 1, first, count, 1) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "layers");
    if (status == COLLET_OK)
        status = scatter_fields(s, m, first, count, layers);
    collet_array_destroy(material);
    collet_array_destroy(part);
    collet_array_destroy(layers);
    return status == COLLET_OK ? scatter_step(s, "transforming") : status;
}

static collet_status make_fields(collet_scatter *s)
{
    const int64_t *n = s->options.shape;
    collet_scalar zero = {.dtype = COLLET_F64};
    collet_status status =
        scatter_array(s, &s->fields, s->options.dtype, 5,
                      SCATTER_SHAPE(s->options.n_materials, SCATTER_FIELDS, n[0], n[1], n[2]));
    if (status == COLLET_OK && collet_op_fill(s->context, s->fields, &zero) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "fields");
    for (int64_t first = 0; first < n[0] && status == COLLET_OK; first += s->layers) {
        int64_t count = n[0] - first < s->layers ? n[0] - first : s->layers;
        for (int64_t m = 0; m < s->options.n_materials && status == COLLET_OK; m++)
            status = fill_layers(s, m, first, count);
    }
    if (status != COLLET_OK) {
        collet_array_destroy(s->fields);
        s->fields = NULL;
    }
    return status;
}

/* The rotation by -angle about the beam. */
static void turn_back(const double k[3], double angle, double frame[9])
{
    double c = cos(angle), s = -sin(angle);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double cross = a == b ? 0.0 : ((b - a + 3) % 3 == 1 ? -1.0 : 1.0) * k[3 - a - b];
            frame[3 * a + b] = (a == b ? c : 0.0) + s * cross + (1.0 - c) * k[a] * k[b];
        }
}

/* Computes the image of one angle on the exact grid, from the transforms p of the polarisation's layers. */
static collet_status project_exactly(collet_scatter *s, const scatter_sphere *sphere, collet_array *p,
                                     collet_array *image)
{
    static const double same[6][3][2] = {{{1}}, {{0}, {1}}, {{0}, {0}, {1}}}, angle = 0.0;
    const int64_t *n = s->options.shape;
    collet_scatter_params params = scatter_exact_params(s);
    collet_array *nodes = NULL, *interval = NULL, *sums = NULL, *weights = NULL, *angles = NULL;
    collet_status status = scatter_exact_arrays(s, 1, &nodes, &interval);
    if (status == COLLET_OK)
        status = scatter_array(s, &sums, scatter_complex(s), 4, SCATTER_SHAPE(1, 3, n[1], n[2]));
    if (status == COLLET_OK)
        status = scatter_numbers(s, &weights, scatter_complex(s), 3, SCATTER_SHAPE(1, 6, 3), &same[0][0][0]);
    if (status == COLLET_OK)
        status = scatter_numbers(s, &angles, COLLET_F64, 1, SCATTER_SHAPE(1), &angle);
    collet_array *add[] = {sums, p, nodes, interval, NULL};
    if (status == COLLET_OK)
        status = scatter_call(s, "scatter_amplitudes", add, 1, &params);
    collet_array *show[] = {image,     sums,         nodes,        interval, weights,
                            sphere->k, sphere->q[0], sphere->q[1], angles};
    if (status == COLLET_OK)
        status = scatter_call(s, "scatter_intensities", show, 1, &params);
    collet_array_destroy(nodes);
    collet_array_destroy(interval);
    collet_array_destroy(sums);
    collet_array_destroy(weights);
    collet_array_destroy(angles);
    return status;
}

/* Computes the image of one angle from the spectrum of the polarisation. */
static collet_status project_slices(collet_scatter *s, const scatter_sphere *sphere, collet_array *p,
                                    collet_array *image)
{
    collet_scatter_params params = {.struct_size = sizeof params,
                                    .neighbours = s->options.neighbours};
    collet_array *at[3] = {NULL}, *plain = NULL;
    collet_array *const of[] = {sphere->slice, sphere->fraction, sphere->k};
    collet_status status = collet_array_reshape(s->context, image, &plain, 2, s->options.shape + 1);
    if (status != COLLET_OK)
        status = scatter_failed(s, status, "creating a view");
    for (int i = 0; i < 3 && status == COLLET_OK; i++)
        status = scatter_at(s, &at[i], of[i], 0, 1, 1);
    collet_array *arrays[] = {plain, p,            at[0],        at[1],
                              at[2], sphere->q[0], sphere->q[1], sphere->q[2]};
    if (status == COLLET_OK)
        status = scatter_call(s, "scatter_projection", arrays, 1, &params);
    for (int i = 0; i < 3; i++)
        collet_array_destroy(at[i]);
    collet_array_destroy(plain);
    return status;
}

/* Computes the image of one angle. */
static collet_status project(collet_scatter *s, double angle, collet_array *constants,
                             const scatter_sphere *sphere, collet_array *const p[2],
                             collet_array *image)
{
    double e[3], frame[9];
    uint32_t axes = scatter_is_exact(s) ? 2 : 3;
    collet_array *field = NULL, *turn = NULL;
    for (int a = 0; a < 3; a++)
        e[a] = cos(angle) * s->axis[0][a] + sin(angle) * s->axis[1][a];
    turn_back(s->axis[2], angle, frame);
    collet_status status = scatter_numbers(s, &field, COLLET_F64, 1, SCATTER_SHAPE(3), e);
    if (status == COLLET_OK && s->options.material_frame)
        status = scatter_numbers(s, &turn, COLLET_F64, 2, SCATTER_SHAPE(3, 3), frame);
    collet_array *polarise[] = {p[0], s->fields, constants, field, turn};
    if (status == COLLET_OK)
        status = scatter_call(s, "scatter_polarisation", polarise, 1, NULL);
    if (status == COLLET_OK && collet_op_fft(s->context, p[1], p[0], axes, 0) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "the FFT");
    if (status == COLLET_OK)
        status = (scatter_is_exact(s) ? project_exactly : project_slices)(s, sphere, p[1], image);
    collet_array_destroy(field);
    collet_array_destroy(turn);
    return status;
}

static collet_status constants_of(collet_scatter *s, collet_array **out)
{
    int64_t materials = s->options.n_materials;
    double(*c)[3][2] = malloc((size_t)materials * sizeof *c);
    if (!c)
        return collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for optical constants");
    for (int64_t m = 0; m < materials; m++)
        scatter_constants(&s->options.constants[s->next * materials + m], c[m]);
    collet_status status =
        scatter_numbers(s, out, scatter_complex(s), 2, SCATTER_SHAPE(materials, 3), &c[0][0][0]);
    free(c);
    return status;
}

/* Computes the pattern of one energy: the mean of the images of all angles, each rotated back. */
static collet_status one_energy(collet_scatter *s, const scatter_sphere *sphere,
                                collet_array *const p[2], collet_array *images)
{
    collet_array *constants = NULL, *image;
    double *weights = calloc((size_t)(s->angles * s->angles), sizeof *weights);
    collet_status status = weights ? constants_of(s, &constants)
                                   : collet_fail(&s->error, COLLET_NO_MEMORY, "no memory");
    if (status == COLLET_OK && scatter_is_exact(s))
        scatter_exact_intervals(s, s->next, s->next + 1);
    for (int64_t i = 0; i < s->angles && status == COLLET_OK; i++) {
        if (collet_array_slice(s->context, images, &image, 1, i, 1, 1) != COLLET_OK)
            status = scatter_failed(s, collet_last_status(s->context), "creating a view");
        if (status == COLLET_OK)
            status = project(s, s->radians[i], constants, sphere, p, image);
        collet_array_destroy(image);
        weights[i * s->angles + i] = 1.0;
        if (status == COLLET_OK)
            status = scatter_step(s, "scattering");
    }
    if (status == COLLET_OK)
        status = scatter_mean(s, images, s->angles, weights, 0, 1);
    collet_array_destroy(constants);
    free(weights);
    return status;
}

collet_status scatter_direct(collet_scatter *s, int64_t count)
{
    const int64_t *n = s->options.shape;
    collet_array *p[2] = {NULL, NULL}, *images = NULL;
    scatter_sphere sphere = {0};
    (void)count; /* always 1: plan_direct sets the block size to 1 */
    collet_status status = s->fields ? COLLET_OK : make_fields(s);
    for (int i = 0; i < 2 && status == COLLET_OK; i++)
        status = scatter_array(s, &p[i], scatter_complex(s), 4, SCATTER_SHAPE(3, n[0], n[1], n[2]));
    if (status == COLLET_OK)
        status =
            scatter_array(s, &images, s->options.dtype, 4, SCATTER_SHAPE(1, s->angles, n[1], n[2]));
    if (status == COLLET_OK)
        status = scatter_is_exact(s) ? scatter_waves(s, s->next, 1, &sphere)
                                     : scatter_sphere_make(s, s->next, &sphere);
    if (status == COLLET_OK)
        status = one_energy(s, &sphere, p, images);
    for (int i = 0; i < 2; i++)
        collet_array_destroy(p[i]);
    collet_array_destroy(images);
    scatter_sphere_free(&sphere);
    return status;
}
