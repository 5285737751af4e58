/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdio.h>
#include <string.h>

collet_status ternary_session_open(ternary_session *session, const ternary_options *options,
                                   collet_error *err)
{
    char text[48];
    const char *settings[] = {text, NULL};
    collet_runtime_options wanted = {.struct_size = sizeof wanted, .backend = options->backend};

    memset(session, 0, sizeof *session);
    snprintf(text, sizeof text, "num_threads=%lld", (long long)options->threads);
    if (options->threads > 0)
        wanted.settings = settings;
    collet_status status = collet_runtime_create(&session->runtime, &wanted, err);
    if (status == COLLET_OK)
        status = collet_context_create(&session->context, session->runtime, err);
    return status;
}

void ternary_session_close(ternary_session *session)
{
    collet_context_destroy(session->context);
    collet_runtime_destroy(session->runtime);
    memset(session, 0, sizeof *session);
}

collet_status ternary_session_failed(const ternary_session *session, collet_status status,
                                     const char *what, collet_error *err)
{
    return collet_fail(err, status, "%s: %s", what, collet_last_error(session->context));
}

static int32_t set_shape(int64_t shape[2], int64_t rows, int64_t columns)
{
    shape[0] = rows;
    shape[1] = columns;
    return rows < 0 ? 0 : columns < 0 ? 1 : 2;
}

collet_status ternary_array_new(ternary_session *session, collet_array **out, collet_dtype dtype,
                                int64_t rows, int64_t columns)
{
    int64_t shape[2];
    int32_t ndim = set_shape(shape, rows, columns);

    return collet_array_create(session->context, out, dtype, ndim, shape);
}

collet_status ternary_array_over(ternary_session *session, collet_array **out, collet_dtype dtype,
                                 int64_t rows, int64_t columns, void *data)
{
    int64_t shape[2];
    int32_t ndim = set_shape(shape, rows, columns);

    return collet_array_wrap(session->context, out, dtype, ndim, shape, NULL, data, NULL, NULL);
}

collet_status ternary_array_take(ternary_session *session, const collet_array *array, void *target)
{
    size_t bytes = (size_t)collet_array_size(array) * collet_dtype_size(collet_array_dtype(array));

    return collet_array_read(session->context, array, target, bytes);
}

void ternary_arrays_free(collet_array *const *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        collet_array_free(arrays[i]);
}
