/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - files that are complete or under construction, but have no name yet. */
#ifndef ENGINES_TERNARY_OUTPUT_H
#define ENGINES_TERNARY_OUTPUT_H

#include "ternary/formats/t2_file.h"

#include <collet/ternary.h>

/* An .npy file at `path` with its head: `rows` rows of shape[0..ndim), or, with rows < 0, the axes
 * of `shape` alone. *out has to be freed also after a failure. */
collet_status ternary_output_npy(collet_ternary_output **out, const char *path, collet_dtype dtype,
                                 int64_t rows, int32_t ndim, const int64_t *shape,
                                 collet_error *err);
/* The same for a .t2 file of these layers, which ternary_t2_lay_out checks and lays out. */
collet_status ternary_output_t2(collet_ternary_output **out, const char *path,
                                ternary_t2_layer *layers, uint32_t count, int64_t weights,
                                collet_error *err);

/* The next bytes of the data. For a .t2 file: weights, scale and bias of every layer in this order;
 * INVALID where they exceed the piece that they begin in. */
collet_status ternary_output_add(collet_ternary_output *output, const void *bytes, uint64_t n,
                                 collet_error *err);

/* Ends the writing of an output, which may be NULL: when `status` is COLLET_OK, completes it all
 * but its name (INVALID where data are missing) and moves it to *out; frees it when that or
 * something before failed. */
collet_status ternary_output_end(collet_ternary_output **out, collet_ternary_output *output,
                                 collet_status status, collet_error *err);

#endif
