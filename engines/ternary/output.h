/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - output files, under construction or complete, before they get their names. */
#pragma once

#include "ternary/formats/t2_file.h"

#include <collet/ternary.h>

/* Creates an .npy file at `path` and writes its head: for `rows` rows of shape[0..ndim) or, if rows < 0, for one array
 * of shape[0..ndim). Free *out also after a failure. */
collet_status ternary_output_npy(collet_ternary_output **out, const char *path, collet_dtype dtype,
                                 int64_t rows, int32_t ndim, const int64_t *shape,
                                 collet_error *err);
/* Creates a .t2 file of these layers; ternary_t2_lay_out checks the layers and sets their offsets. Free *out also
 * after a failure. */
collet_status ternary_output_t2(collet_ternary_output **out, const char *path,
                                ternary_t2_layer *layers, uint32_t count, int64_t weights,
                                collet_error *err);

/* Appends bytes of data. A .t2 file gets weights, scale and bias of each layer, in this order; INVALID if there are
 * more bytes than the current piece still needs. */
collet_status ternary_output_add(collet_ternary_output *output, const void *bytes, uint64_t n,
                                 collet_error *err);

/* Ends writing. If `status` is COLLET_OK, completes the file except for its name (INVALID if data
 * are missing) and moves `output` to *out. If `status` or this step is an error, frees `output`,
 * which may be NULL. */
collet_status ternary_output_end(collet_ternary_output **out, collet_ternary_output *output,
                                 collet_status status, collet_error *err);
