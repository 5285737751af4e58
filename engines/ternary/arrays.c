/* SPDX-License-Identifier: Apache-2.0 */
#include "ternary/arrays.h"

static int32_t set_shape(int64_t shape[2], int64_t rows, int64_t columns)
{
    shape[0] = rows;
    shape[1] = columns;
    return rows < 0 ? 0 : columns < 0 ? 1 : 2;
}

collet_status ternary_array_new(ternary_call *call, collet_array **out, collet_dtype dtype,
                                int64_t rows, int64_t columns)
{
    int64_t shape[2];
    int32_t ndim = set_shape(shape, rows, columns);

    return collet_array_create(call->context, out, dtype, ndim, shape);
}

collet_status ternary_array_over(ternary_call *call, collet_array **out, collet_dtype dtype,
                                 int64_t rows, int64_t columns, void *data)
{
    int64_t shape[2];
    int32_t ndim = set_shape(shape, rows, columns);

    return collet_array_wrap(call->context, out, dtype, ndim, shape, NULL, data, NULL, NULL);
}

collet_status ternary_array_take(ternary_call *call, const collet_array *array, void *target)
{
    size_t bytes = (size_t)collet_array_size(array) * collet_dtype_size(collet_array_dtype(array));

    return collet_array_read(call->context, array, target, bytes);
}

void ternary_arrays_free(collet_array *const *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        collet_array_free(arrays[i]);
}
