/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/scatter/test_scatter.c */
#include <collet/ops/array.h>

#include "scatter/arrays.h"

collet_status scatter_failed(collet_scatter *s, collet_status status, const char *what)
{
    const char *error = collet_last_error(s->context);
    return s->n_devices > 1 ? collet_fail(&s->error, status, "%s: %s: %s",
                                          collet_get_backend(s->context), what, error)
                            : collet_fail(&s->error, status, "%s: %s", what, error);
}

collet_status scatter_array(collet_scatter *s, collet_array **out, collet_dtype dtype,
                            int32_t ndim, const int64_t *shape)
{
    collet_status status = collet_array_create(s->context, out, dtype, ndim, shape);
    return status == COLLET_OK ? status : scatter_failed(s, status, "allocating an array");
}

collet_status scatter_numbers(collet_scatter *s, collet_array **out, collet_dtype dtype,
                              int32_t ndim, const int64_t *shape, const double *values)
{
    collet_dtype from = dtype == COLLET_C64 || dtype == COLLET_C128 ? COLLET_C128 : COLLET_F64;
    collet_array *wide;
    *out = NULL;
    collet_status status = collet_array_from(s->context, &wide, from, ndim, shape, values);
    if (status != COLLET_OK || dtype == from) {
        *out = wide;
        return status == COLLET_OK ? status : scatter_failed(s, status, "numbers");
    }
    status = collet_array_create(s->context, out, dtype, ndim, shape);
    if (status == COLLET_OK)
        status = collet_op_copy(s->context, *out, wide);
    collet_array_destroy(wide);
    return status == COLLET_OK ? status : scatter_failed(s, status, "numbers");
}

collet_status scatter_at(collet_scatter *s, collet_array **out, const collet_array *array,
                         int64_t index, int64_t count, int drop)
{
    collet_array *part;
    collet_status status = collet_array_slice(s->context, array, &part, 0, index, count, 1);
    *out = part;
    if (status == COLLET_OK && drop) {
        status = collet_array_reshape(s->context, part, out, collet_array_ndim(array) - 1,
                                      collet_array_shape(array) + 1);
        collet_array_destroy(part);
    }
    return status == COLLET_OK ? status : scatter_failed(s, status, "creating a view");
}

collet_status scatter_call(collet_scatter *s, const char *name, collet_array *const *arrays,
                           uint32_t n_out, const void *params)
{
    uint32_t op;
    collet_runtime *runtime = collet_array_runtime(arrays[0]);
    collet_status status = collet_ops_find(runtime, &op, name, &s->error);
    if (status == COLLET_OK)
        status = collet_call(s->context, op, arrays, (const collet_array *const *)arrays + n_out,
                             params);
    return status == COLLET_OK ? status : scatter_failed(s, status, "scattering");
}

collet_status scatter_step(collet_scatter *s, const char *stage)
{
    collet_progress progress = {.struct_size = sizeof progress,
                                .done = s->next,
                                .fraction = (double)++s->steps / (double)s->steps_total,
                                .stage = stage};
    if (progress.fraction > 1.0)
        progress.fraction = 1.0;
    if (s->options.progress && s->options.progress(s->options.progress_user, &progress))
        return collet_fail(&s->error, COLLET_CANCELLED, "cancelled by the caller");
    return COLLET_OK;
}
