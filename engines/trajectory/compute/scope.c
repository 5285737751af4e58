/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_trajectory_analysis.c */
#include "scope.h"

#include <string.h>

/* Keeps a new view until trajectory_scope_clear frees it; on an error keeps the status instead. */
static collet_array *keep(trajectory_scope *scope, collet_status status, collet_array *const *view)
{
    if (status != COLLET_OK) {
        scope->view_status = status;
        return NULL;
    }
    scope->views[scope->n_views++] = *view;
    return *view;
}

collet_array *trajectory_scope_rows(trajectory_scope *scope, const collet_array *array,
                                    int64_t first, int64_t n)
{
    collet_array *view = NULL;

    if (array == NULL || scope->view_status != COLLET_OK)
        return NULL;
    return keep(scope, collet_array_slice(scope->context, array, &view, 0, first, n, 1), &view);
}

collet_array *trajectory_scope_split(trajectory_scope *scope, collet_array *array, int64_t n)
{
    collet_array *view = NULL;
    int64_t shape[COLLET_MAX_DIMS] = {n};
    int32_t ndim;

    if (array == NULL || scope->view_status != COLLET_OK)
        return NULL;
    ndim = collet_array_ndim(array);
    shape[1] = collet_array_shape(array)[0] / n;
    for (int32_t i = 1; i < ndim; i++)
        shape[i + 1] = collet_array_shape(array)[i];
    return keep(scope, collet_array_reshape(scope->context, array, &view, ndim + 1, shape), &view);
}

collet_array *trajectory_scope_drop(trajectory_scope *scope, const collet_array *array,
                                    int32_t axis, int64_t index)
{
    collet_array *one = NULL, *view = NULL;
    int64_t shape[COLLET_MAX_DIMS];
    int32_t ndim = 0;

    if (array == NULL || scope->view_status != COLLET_OK)
        return NULL;
    if (keep(scope, collet_array_slice(scope->context, array, &one, axis, index, 1, 1), &one) ==
        NULL)
        return NULL;
    for (int32_t i = 0; i < collet_array_ndim(array); i++)
        if (i != axis)
            shape[ndim++] = collet_array_shape(array)[i];
    return keep(scope, collet_array_reshape(scope->context, one, &view, ndim, shape), &view);
}

collet_status trajectory_scope_views(const trajectory_scope *scope, collet_error *err)
{
    return trajectory_scope_check(scope, scope->view_status, err);
}

void trajectory_scope_clear(trajectory_scope *scope)
{
    while (scope->n_views > 0)
        collet_array_destroy(scope->views[--scope->n_views]);
    scope->view_status = COLLET_OK;
}

collet_status trajectory_scope_check(const trajectory_scope *scope, collet_status status,
                                     collet_error *err)
{
    if (status == COLLET_OK)
        return COLLET_OK;
    return collet_fail(err, status, "%s", collet_last_error(scope->context));
}

collet_status trajectory_scope_ran(trajectory_scope *scope, collet_status status, collet_error *err)
{
    const char *name = collet_last_backend(scope->context);

    if (status != COLLET_OK)
        return trajectory_scope_check(scope, status, err);
    for (int32_t i = 0; i < scope->n_backends; i++)
        if (strcmp(scope->backends[i], name) == 0)
            return COLLET_OK;
    if (scope->n_backends < TRAJECTORY_MAX_BACKENDS)
        strncpy(scope->backends[scope->n_backends++], name, TRAJECTORY_BACKEND_NAME - 1);
    return COLLET_OK;
}
