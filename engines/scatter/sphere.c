/* SPDX-License-Identifier: Apache-2.0 */
/* The last steps of both methods: Ewald's sphere, and the mean over the angles.
 * Tests: tests/engines/scatter/test_scatter.c */
#include "scatter/arrays.h"
#include "scatter/geometry.h"
#include "scatter/methods.h"

#include <stdlib.h>

collet_status scatter_waves(collet_scatter *s, int64_t energy, int64_t count,
                            scatter_sphere *sphere)
{
    const int64_t *n = s->options.shape;
    double *k = malloc((size_t)count * 3 * sizeof *k);
    *sphere = (scatter_sphere){0};
    if (!k)
        return collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for %lld energies",
                           (long long)count);
    for (int64_t i = 0; i < 3 * count; i++)
        k[i] = scatter_wave(s->options.energies[energy + i / 3]) * s->axis[2][i % 3];
    collet_status status =
        scatter_numbers(s, &sphere->k, COLLET_F64, 2, SCATTER_SHAPE(count, 3), k);
    free(k);
    for (int a = 0; a < 3 && status == COLLET_OK; a++)
        status = scatter_numbers(s, &sphere->q[a], COLLET_F64, 1, &n[2 - a], s->q[2 - a]);
    return status;
}

collet_status scatter_sphere_make(collet_scatter *s, int64_t energy, scatter_sphere *sphere)
{
    const int64_t *n = s->options.shape;
    const int64_t image[] = {1, n[1], n[2]};
    collet_scatter_params params = {.struct_size = sizeof params, .nearest = s->options.nearest};
    collet_status status = scatter_waves(s, energy, 1, sphere);
    if (status == COLLET_OK)
        status = scatter_array(s, &sphere->slice, COLLET_I32, 3, image);
    if (status == COLLET_OK)
        status = scatter_array(s, &sphere->fraction, s->options.dtype, 3, image);
    if (status != COLLET_OK)
        return status;
    collet_array *arrays[] = {sphere->slice, sphere->fraction, sphere->k,
                              sphere->q[0],  sphere->q[1],     sphere->q[2]};
    return scatter_call(s, "scatter_ewald", arrays, 2, &params);
}

void scatter_sphere_free(scatter_sphere *sphere)
{
    collet_array_destroy(sphere->slice);
    collet_array_destroy(sphere->fraction);
    collet_array_destroy(sphere->k);
    for (int a = 0; a < 3; a++)
        collet_array_destroy(sphere->q[a]);
}

/* A pixel is 2 pi / (Y voxel) high and 2 pi / (X voxel) wide. */
double scatter_aspect(const collet_scatter *s)
{
    return (double)s->options.shape[2] / (double)s->options.shape[1];
}

collet_status scatter_mean(collet_scatter *s, collet_array *images, int64_t kinds,
                           const double *weights, int64_t first, int64_t count)
{
    collet_scatter_average_params params = {
        .struct_size = sizeof params, .mask = s->options.mask, .aspect = scatter_aspect(s)};
    collet_array *arrays[4] = {NULL, images};
    collet_status status = scatter_at(s, &arrays[0], s->out, first, count, 0);
    if (status == COLLET_OK)
        status = scatter_numbers(s, &arrays[2], COLLET_F64, 1, &s->angles, s->radians);
    if (status == COLLET_OK)
        status =
            scatter_numbers(s, &arrays[3], COLLET_F64, 2, SCATTER_SHAPE(s->angles, kinds), weights);
    if (status == COLLET_OK)
        status = scatter_call(s, "scatter_average", arrays, 1, &params);
    collet_array_destroy(arrays[0]);
    collet_array_destroy(arrays[2]);
    collet_array_destroy(arrays[3]);
    return status;
}
