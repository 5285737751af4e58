/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - for a group of kernel calls on one context: short-lived views of arrays, errors with
 * the context's text, and the names of the backends that ran.
 *
 * A view that cannot be created is NULL, which a kernel would treat as an absent operand: create
 * all views, check extract_scope_views, then call.
 */
#ifndef COLLET_EXTRACT_SCOPE_H
#define COLLET_EXTRACT_SCOPE_H

#include <collet/collet.h>

#define EXTRACT_SCOPE_VIEWS 32
#define EXTRACT_MAX_BACKENDS 8
#define EXTRACT_BACKEND_NAME (2 * COLLET_MAX_NAME) /* "worker:cuda" */

/* All zeros but the context is an empty scope. */
typedef struct extract_scope {
    collet_context *context;
    collet_array *views[EXTRACT_SCOPE_VIEWS];
    int32_t n_views;
    collet_status view_status;
    int32_t n_backends;
    char backends[EXTRACT_MAX_BACKENDS][EXTRACT_BACKEND_NAME];
} extract_scope;

/* Elements first .. first + n of the first axis; NULL for an array that is NULL. Valid until
 * extract_scope_clear. */
collet_array *extract_scope_rows(extract_scope *scope, const collet_array *array, int64_t first,
                                 int64_t n);
/* The only element of axis `axis`, without the axis. */
collet_array *extract_scope_drop(extract_scope *scope, const collet_array *array, int32_t axis,
                                 int64_t index);

/* COLLET_OK when every view since the last `clear` could be created. */
collet_status extract_scope_views(const extract_scope *scope, collet_error *err);
void extract_scope_clear(extract_scope *scope);

/* `status`, with the context's text when it is an error. */
collet_status extract_scope_check(const extract_scope *scope, collet_status status,
                                  collet_error *err);
/* The same for a kernel that was just called; notes which backend ran it. */
collet_status extract_scope_ran(extract_scope *scope, collet_status status, collet_error *err);

#endif
