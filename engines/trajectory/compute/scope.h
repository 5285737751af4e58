/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope.h - for a group of kernel calls on one context: short-lived views of arrays, errors with
 * the context's text, and the names of the backends that ran.
 *
 * A view that cannot be created is NULL, which a kernel would treat as an absent operand: create
 * all views, check trajectory_scope_views, then call.
 */
#pragma once

#include <collet/collet.h>

#define TRAJECTORY_SCOPE_VIEWS 64 /* a batch of several bodies with all keys needs 44 */
#define TRAJECTORY_MAX_BACKENDS 8
#define TRAJECTORY_BACKEND_NAME (2 * COLLET_MAX_NAME) /* "worker:cuda" */

/* A scope is empty when all members but `context` are 0. */
typedef struct trajectory_scope {
    collet_context *context;
    collet_array *views[TRAJECTORY_SCOPE_VIEWS];
    int32_t n_views;
    collet_status view_status;
    int32_t n_backends;
    char backends[TRAJECTORY_MAX_BACKENDS][TRAJECTORY_BACKEND_NAME];
} trajectory_scope;

/* Elements first .. first + n - 1 of the first axis; NULL if `array` is NULL. Valid until
 * trajectory_scope_clear. */
collet_array *trajectory_scope_rows(trajectory_scope *scope, const collet_array *array,
                                    int64_t first, int64_t n);
/* Returns the first axis of n x k elements as two axes; NULL if `array` is NULL. */
collet_array *trajectory_scope_split(trajectory_scope *scope, collet_array *array, int64_t n);
/* Returns element `index` of axis `axis`, without that axis. */
collet_array *trajectory_scope_drop(trajectory_scope *scope, const collet_array *array,
                                    int32_t axis, int64_t index);

/* COLLET_OK when every view since the last `clear` could be created. */
collet_status trajectory_scope_views(const trajectory_scope *scope, collet_error *err);
void trajectory_scope_clear(trajectory_scope *scope);

/* Returns `status`; on an error copies the context's text to *err. */
collet_status trajectory_scope_check(const trajectory_scope *scope, collet_status status,
                                     collet_error *err);
/* Does the same for the status of the kernel call that was just made; also notes which backend ran it. */
collet_status trajectory_scope_ran(trajectory_scope *scope, collet_status status,
                                   collet_error *err);
