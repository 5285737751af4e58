/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.h - arrays and calls of the engine; errors go to scattering->error. */
#pragma once

#include "scatter/state.h"

#define SCATTER_SHAPE(...) ((const int64_t[]){__VA_ARGS__})

/* Sets the error to `what` and the text of the context's last error. Returns `status`. */
collet_status scatter_failed(collet_scatter *s, collet_status status, const char *what);

collet_status scatter_array(collet_scatter *s, collet_array **out, collet_dtype dtype,
                            int32_t ndim, const int64_t *shape);
/* Creates an array from the f64 numbers at `values`, converted to the dtype. */
collet_status scatter_numbers(collet_scatter *s, collet_array **out, collet_dtype dtype,
                              int32_t ndim, const int64_t *shape, const double *values);
/* Creates a view of `count` elements along the first axis; with `drop` = 1, of one element, without that axis. */
collet_status scatter_at(collet_scatter *s, collet_array **out, const collet_array *array,
                         int64_t index, int64_t count, int drop);
/* Calls the op `name`; its outputs come first in `arrays`. */
collet_status scatter_call(collet_scatter *s, const char *name, collet_array *const *arrays,
                           uint32_t n_out, const void *params);
/* Reports one step of the work to the progress callback. CANCELLED if the callback cancels. */
collet_status scatter_step(collet_scatter *s, const char *stage);
