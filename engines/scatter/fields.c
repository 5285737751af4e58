/* SPDX-License-Identifier: Apache-2.0 */
/* The materials of a morphology as fields. */
#include <math.h>
#include <stdlib.h>

#include "scatter/arrays.h"
#include "scatter/roads.h"

/* Layers of an array of the caller's, converted where its dtype is not that of the computation. */
static collet_status take(collet_scattering *s, collet_dtype dtype, const void *values,
                          int32_t ndim, int64_t first, int64_t count, collet_array **out)
{
    const int64_t *n = s->options.shape;
    const int64_t shape[] = {count, n[1], n[2], 3};
    int64_t width = ndim > 3 ? 3 : 1;
    char *at = (char *)(uintptr_t)values +
               (size_t)(first * n[1] * n[2] * width) * (dtype == COLLET_F64 ? 8 : 4);
    collet_array *wrapped;
    *out = NULL;
    collet_status status = collet_array_wrap(s->context, &wrapped, dtype, ndim, shape, NULL, at,
                                             COLLET_WRAP_READONLY, NULL, NULL);
    if (status == COLLET_OK && dtype == s->options.dtype) {
        *out = wrapped;
        return status;
    }
    if (status == COLLET_OK)
        status = collet_array_create(s->context, out, s->options.dtype, ndim, shape);
    if (status == COLLET_OK)
        status = collet_copy(s->context, *out, wrapped);
    collet_array_free(wrapped);
    return status == COLLET_OK ? status : scatter_failed(s, status, "a material");
}

static collet_status copy_volume(collet_scattering *s, const collet_scattering_material *material,
                                 int64_t first, int64_t count, collet_array *out)
{
    const int64_t *n = s->options.shape;
    collet_array *volume, *target = NULL;
    collet_status status = take(s, material->dtype, material->volume, 3, first, count, &volume);
    if (status == COLLET_OK)
        status =
            collet_array_reshape(s->context, &target, out, 3, SCATTER_SHAPE(count, n[1], n[2]));
    if (status == COLLET_OK)
        status = collet_copy(s->context, target, volume);
    collet_array_free(volume);
    collet_array_free(target);
    return status == COLLET_OK ? status : scatter_failed(s, status, "a material");
}

/* Multiplies layers [fields, count, Y, X] by the window, where there is one. */
static collet_status apply_window(collet_scattering *s, int64_t first, int64_t count,
                                  collet_array *a)
{
    collet_status status = COLLET_OK;
    for (int axis = 0; axis < 3 && s->options.window && status == COLLET_OK; axis++) {
        int64_t n = s->options.shape[axis], shape[3] = {1, 1, 1}, begin = axis ? 0 : first;
        if (n == 1)
            continue;
        double *values = malloc((size_t)n * sizeof *values);
        collet_array *window = NULL;
        if (!values)
            return collet_fail(&s->error, COLLET_NO_MEMORY, "no memory for a window");
        for (int64_t i = 0; i < n; i++)
            values[i] = 0.5 * (1.0 - cos(2 * 3.14159265358979323846 * (double)i / (double)n));
        shape[axis] = axis ? n : count;
        status = scatter_numbers(s, &window, s->options.dtype, 3, shape, values + begin);
        free(values);
        if (status == COLLET_OK && collet_mul(s->context, a, a, window) != COLLET_OK)
            status = scatter_failed(s, COLLET_FAILED, "the window");
        collet_array_free(window);
    }
    return status;
}

collet_status scatter_fields(collet_scattering *s, int64_t m, int64_t first, int64_t count,
                             collet_array *out)
{
    const collet_scattering_material *material = &s->options.materials[m];
    const void *euler[] = {material->volume, material->alignment, material->theta, material->psi};
    const void *vector[] = {material->direction, material->unaligned};
    int is_vector = material->direction != NULL, inputs = is_vector ? 2 : 4;
    collet_array *arrays[5] = {out};
    collet_status status = COLLET_OK;
    if (!is_vector && !material->alignment) {
        status = copy_volume(s, material, first, count, out);
    } else {
        for (int i = 0; i < inputs && status == COLLET_OK; i++)
            status = take(s, material->dtype, is_vector ? vector[i] : euler[i],
                          is_vector && i == 0 ? 4 : 3, first, count, &arrays[1 + i]);
        if (status == COLLET_OK)
            status =
                scatter_call(s, is_vector ? "scatter_vector" : "scatter_euler", arrays, 1, NULL);
        for (int i = 0; i < inputs; i++)
            collet_array_free(arrays[1 + i]);
    }
    return status == COLLET_OK ? apply_window(s, first, count, out) : status;
}
