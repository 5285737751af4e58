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

/* ---- q = 0 ----------------------------------------------------------------------------------- */

/* A view of pixel y, x of images [count, K, Y, X], or of patterns [count, Y, X]. */
static collet_status pixel_of(collet_scatter *s, const collet_array *images, int32_t axes, int64_t y,
                              int64_t x, collet_array **out)
{
    collet_array *row = NULL;
    *out = NULL;
    if (collet_array_slice(s->context, images, &row, axes - 2, y, 1, 1) != COLLET_OK ||
        collet_array_slice(s->context, row, out, axes - 1, x, 1, 1) != COLLET_OK)
        (void)scatter_failed(s, collet_last_status(s->context), "the pixel of q = 0");
    collet_array_destroy(row);
    return *out ? COLLET_OK : s->error.status;
}

static collet_status move_pixel(collet_scatter *s, const collet_array *images, int32_t axes, int64_t y,
                                int64_t x, double *numbers, int64_t count, int write)
{
    size_t size = scatter_is_wide(s) ? 8 : 4, bytes = size * (size_t)count;
    collet_array *pixel = NULL;
    float *narrow = malloc(bytes);
    collet_status status = narrow ? pixel_of(s, images, axes, y, x, &pixel)
                                  : collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for a pixel");
    void *values = scatter_is_wide(s) ? (void *)numbers : narrow;
    for (int64_t i = 0; status == COLLET_OK && write && i < count; i++)
        narrow[i] = scatter_is_wide(s) ? 0.0F : (float)numbers[i];
    if (status == COLLET_OK && (write ? collet_array_write(s->context, pixel, values, bytes)
                                      : collet_array_read(s->context, pixel, values, bytes)) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "the pixel of q = 0");
    for (int64_t i = 0; status == COLLET_OK && !write && !scatter_is_wide(s) && i < count; i++)
        numbers[i] = (double)narrow[i];
    collet_array_destroy(pixel);
    free(narrow);
    return status;
}

int scatter_beside_zero(const collet_scatter *s, int64_t pixels[4])
{
    const int64_t *n = s->options.shape + 1;
    int64_t y = n[0] / 2, x = n[1] / 2;
    int count = 0;
    for (int i = 0; i < 4; i++) {
        int64_t row = y + (i == 0) - (i == 1), column = x + (i == 2) - (i == 3);
        if (row >= 0 && row < n[0] && column >= 0 && column < n[1])
            pixels[count++] = row * n[1] + column;
    }
    return count;
}

/* Copies the values of all images at the pixel of q = 0 to `zero`, and gives this pixel the mean of its neighbours, so
 * that its intensity does not spread to other pixels when images are rotated by interpolation. */
static collet_status fill_zero(collet_scatter *s, const collet_array *images, int64_t numbers, double *zero)
{
    int64_t X = s->options.shape[2], y = s->options.shape[1] / 2, x = X / 2, pixels[4];
    int count = scatter_beside_zero(s, pixels);
    double *sum = calloc((size_t)(2 * numbers), sizeof *sum), *part = sum + numbers;
    collet_status status = sum ? move_pixel(s, images, 4, y, x, zero, numbers, 0)
                               : collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for a pixel");
    for (int i = 0; i < count && status == COLLET_OK; i++) {
        status = move_pixel(s, images, 4, pixels[i] / X, pixels[i] % X, part, numbers, 0);
        for (int64_t k = 0; k < numbers; k++)
            sum[k] += part[k] / count;
    }
    if (status == COLLET_OK && count)
        status = move_pixel(s, images, 4, y, x, sum, numbers, 1);
    free(sum);
    return status;
}

/* Writes the mean of the images' q = 0 over the angles to the patterns. */
static collet_status write_zero(collet_scatter *s, const collet_array *patterns, int64_t kinds,
                                const double *weights, int64_t count, const double *zero)
{
    double *mean = calloc((size_t)count, sizeof *mean);
    if (!mean)
        return collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for a pixel");
    for (int64_t e = 0; e < count; e++)
        for (int64_t i = 0; i < s->angles * kinds; i++)
            mean[e] += weights[i] * zero[e * kinds + i % kinds] / (double)s->angles;
    collet_status status = move_pixel(s, patterns, 3, s->options.shape[1] / 2, s->options.shape[2] / 2,
                                      mean, count, 1);
    free(mean);
    return status;
}

/* ---- The mean -------------------------------------------------------------------------------- */

collet_status scatter_mean(collet_scatter *s, collet_array *images, int64_t kinds,
                           const double *weights, int64_t first, int64_t count)
{
    collet_scatter_average_params params = {.struct_size = sizeof params,
                                            .mask = s->options.mask,
                                            .centre = s->options.grid != COLLET_SCATTER_CYRSOXS,
                                            .aspect = scatter_aspect(s)};
    collet_array *arrays[4] = {NULL, images};
    double *zero = malloc((size_t)(count * kinds) * sizeof *zero);
    collet_status status = zero ? scatter_at(s, &arrays[0], s->out, first, count, 0)
                                : collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for a pixel");
    if (status == COLLET_OK && scatter_is_exact(s))
        status = fill_zero(s, images, count * kinds, zero);
    if (status == COLLET_OK)
        status = scatter_numbers(s, &arrays[2], COLLET_F64, 1, &s->angles, s->radians);
    if (status == COLLET_OK)
        status =
            scatter_numbers(s, &arrays[3], COLLET_F64, 2, SCATTER_SHAPE(s->angles, kinds), weights);
    if (status == COLLET_OK)
        status = scatter_call(s, "scatter_average", arrays, 1, &params);
    if (status == COLLET_OK && scatter_is_exact(s))
        status = write_zero(s, arrays[0], kinds, weights, count, zero);
    free(zero);
    collet_array_destroy(arrays[0]);
    collet_array_destroy(arrays[2]);
    collet_array_destroy(arrays[3]);
    return status;
}
