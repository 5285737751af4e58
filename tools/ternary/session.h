/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - a runtime with one context, and arrays of one line each. */
#ifndef TERNARY_SESSION_H
#define TERNARY_SESSION_H

#include "options.h"

#include <collet/collet.h>

typedef struct ternary_session {
    collet_runtime *runtime;
    collet_context *context;
} ternary_session;

/* With the backend and the threads of the options. */
collet_status ternary_session_open(ternary_session *session, const ternary_options *options,
                                   collet_error *err);
void ternary_session_close(ternary_session *session);

/* Gives `status`, and its text behind "WHAT: ", to *err. */
collet_status ternary_session_failed(const ternary_session *session, collet_status status,
                                     const char *what, collet_error *err);

/* A new array of shape (rows, columns), or of (rows) where columns < 0, or without axes where both
 * are. */
collet_status ternary_array_new(ternary_session *session, collet_array **out, collet_dtype dtype,
                                int64_t rows, int64_t columns);
/* The same over memory of the caller, which outlives it. */
collet_status ternary_array_over(ternary_session *session, collet_array **out, collet_dtype dtype,
                                 int64_t rows, int64_t columns, void *data);
/* All of the array, which has the bytes of its elements, to `target`. */
collet_status ternary_array_take(ternary_session *session, const collet_array *array, void *target);

/* collet_array_free of each of `count` arrays, which may be NULL. */
void ternary_arrays_free(collet_array *const *arrays, size_t count);

#endif
