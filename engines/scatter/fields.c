/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the fields of the materials of a morphology.
 * Tests: tests/engines/scatter/test_scatter.c */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <collet/ops/array.h>

#include "scatter/arrays.h"
#include "scatter/attenuation.h"
#include "scatter/checks.h"
#include "scatter/methods.h"

/* ---- Layers of a material -------------------------------------------------------------------- */

/* Reads layers into s->layer_values and checks them; sets the arrays of `view`. */
static collet_status read_layers(collet_scatter *s, int64_t m, int64_t first, int64_t count,
                                 collet_scatter_material *view)
{
    const int64_t *n = s->options.shape;
    int64_t voxels = count * n[1] * n[2], materials = s->options.n_materials;
    size_t plane = (size_t)voxels * (view->dtype == COLLET_F64 ? 8 : 4);
    int vectors = view->kind == COLLET_SCATTER_VECTOR;
    void *arrays[4];
    for (int i = 0; i < 4; i++)
        arrays[i] = (char *)s->layer_values + plane * (size_t)(vectors && i ? i + 2 : i);
    collet_status status =
        s->options.layers(s->options.layers_user, arrays, m, first, count, &s->error);
    if (status != COLLET_OK)
        return status;
    if (vectors) {
        view->direction = arrays[0];
        view->unaligned = arrays[1];
    } else {
        view->volume = arrays[0];
        view->alignment = view->kind == COLLET_SCATTER_EULER ? arrays[1] : NULL;
        view->theta = view->alignment ? arrays[2] : NULL;
        view->psi = view->alignment ? arrays[3] : NULL;
    }
    collet_scatter_options o = s->options;
    scatter_voxels v = {.options = &o, .before = first * n[1] * n[2], .err = &s->error};
    o.materials = s->view;
    if (m == 0)
        memset(s->sums, 0, (size_t)voxels * sizeof *s->sums);
    s->view[m] = *view;
    status = scatter_check_part(&v, m, 0, voxels, s->sums);
    return status == COLLET_OK && m == materials - 1 ? scatter_check_sums(&v, 0, voxels, s->sums)
                                                     : status;
}

static const void *offset(const void *array, int64_t elements, collet_dtype dtype)
{
    return array ? (const char *)array + elements * (dtype == COLLET_F64 ? 8 : 4) : NULL;
}

collet_status scatter_view_layers(collet_scatter *s, int64_t m, int64_t first, int64_t count,
                                  collet_scatter_material *view)
{
    int64_t at = first * s->options.shape[1] * s->options.shape[2];
    *view = s->options.materials[m];
    if (s->options.layers)
        return read_layers(s, m, first, count, view);
    view->volume = offset(view->volume, at, view->dtype);
    view->alignment = offset(view->alignment, at, view->dtype);
    view->theta = offset(view->theta, at, view->dtype);
    view->psi = offset(view->psi, at, view->dtype);
    view->direction = offset(view->direction, 3 * at, view->dtype);
    view->unaligned = offset(view->unaligned, at, view->dtype);
    return COLLET_OK;
}

/* ---- Fields ---------------------------------------------------------------------------------- */

/* Layers of a material. */
typedef struct layers {
    collet_scatter_material view; /* of scatter_view_layers */
    int64_t first, count;
} layers;

/* Creates an array of the layers of array `i` of the material's kind, converted to the dtype of the computation. */
static collet_status take(collet_scatter *s, const layers *l, int i, collet_array **out)
{
    const int64_t *n = s->options.shape;
    const int64_t shape[] = {l->count, n[1], n[2], 3};
    const collet_scatter_material *view = &l->view;
    int vector = view->kind == COLLET_SCATTER_VECTOR, ndim = vector && i == 0 ? 4 : 3;
    const void *const euler[] = {view->volume, view->alignment, view->theta, view->psi};
    const void *const vectors[] = {view->direction, view->unaligned};
    collet_array *wrapped;
    *out = NULL;
    collet_status status =
        view->arrays ? collet_array_slice(s->context, view->arrays[i], &wrapped, 0, l->first, l->count, 1)
                     : collet_array_wrap(s->context, &wrapped, view->dtype, ndim, shape, NULL,
                                         (void *)(uintptr_t)(vector ? vectors : euler)[i], COLLET_WRAP_READONLY, NULL,
                                         NULL);
    if (status == COLLET_OK && view->dtype == s->options.dtype) {
        *out = wrapped;
        return status;
    }
    if (status == COLLET_OK)
        status = collet_array_create(s->context, out, s->options.dtype, ndim, shape);
    if (status == COLLET_OK)
        status = collet_op_copy(s->context, *out, wrapped);
    collet_array_destroy(wrapped);
    return status == COLLET_OK ? status : scatter_failed(s, status, "a material");
}

static collet_status copy_volume(collet_scatter *s, const layers *l, collet_array *out)
{
    collet_array *volume, *target = NULL;
    collet_status status = take(s, l, 0, &volume);
    if (status == COLLET_OK)
        status = scatter_at(s, &target, out, 0, 1, 1);
    if (status == COLLET_OK)
        status = collet_op_copy(s->context, target, volume);
    collet_array_destroy(volume);
    collet_array_destroy(target);
    return status == COLLET_OK ? status : scatter_failed(s, status, "a material");
}

collet_status scatter_window(collet_scatter *s, int64_t first, int64_t count, collet_array *a)
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
        if (status == COLLET_OK && collet_op_mul(s->context, a, a, window) != COLLET_OK)
            status = scatter_failed(s, collet_last_status(s->context), "the window");
        collet_array_destroy(window);
    }
    return status;
}

/* Computes the fields of layers, without the window. */
static collet_status make_fields(collet_scatter *s, int64_t m, int64_t first, int64_t count,
                                 collet_array *out)
{
    layers l = {.first = first, .count = count};
    collet_status status = scatter_view_layers(s, m, first, count, &l.view);
    if (status == COLLET_OK)
        status = scatter_count_fractions(s, m, first, count, &l.view);
    int is_vector = l.view.kind == COLLET_SCATTER_VECTOR, inputs = is_vector ? 2 : 4;
    collet_array *arrays[5] = {out};
    if (status == COLLET_OK && l.view.kind == COLLET_SCATTER_ISOTROPIC) {
        status = copy_volume(s, &l, out);
    } else {
        for (int i = 0; i < inputs && status == COLLET_OK; i++)
            status = take(s, &l, i, &arrays[1 + i]);
        if (status == COLLET_OK)
            status =
                scatter_call(s, is_vector ? "scatter_vector" : "scatter_euler", arrays, 1, NULL);
        for (int i = 0; i < inputs; i++)
            collet_array_destroy(arrays[1 + i]);
    }
    return status;
}

/* Computes the mean of the fields of all layers. */
static collet_status make_mean(collet_scatter *s, int64_t m, collet_array *out)
{
    const int64_t *n = s->options.shape;
    double share = 1.0 / (double)s->thickness;
    collet_array *layer = NULL, *factor = NULL;
    collet_status status = scatter_array(s, &layer, s->options.dtype, 4,
                                         SCATTER_SHAPE(s->parts[m].count, 1, n[1], n[2]));
    if (status == COLLET_OK)
        status = scatter_numbers(s, &factor, s->options.dtype, 1, SCATTER_SHAPE(1), &share);
    for (int64_t z = 0; z < s->thickness && status == COLLET_OK; z++) {
        status = make_fields(s, m, z, 1, z ? layer : out);
        if (status == COLLET_OK && z && collet_op_add(s->context, out, out, layer) != COLLET_OK)
            status = scatter_failed(s, collet_last_status(s->context), "the mean of layers");
    }
    if (status == COLLET_OK && collet_op_mul(s->context, out, out, factor) != COLLET_OK)
        status = scatter_failed(s, collet_last_status(s->context), "the mean of layers");
    collet_array_destroy(layer);
    collet_array_destroy(factor);
    return status;
}

collet_status scatter_fields(collet_scatter *s, int64_t m, int64_t first, int64_t count,
                             collet_array *out)
{
    collet_status status =
        s->thickness > 1 ? make_mean(s, m, out) : make_fields(s, m, first, count, out);
    return status == COLLET_OK ? scatter_window(s, first, count, out) : status;
}
