/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - files that are complete or under construction, but have no name yet. */
#ifndef COLLET_ENGINES_TERNARY_OUTPUT_H
#define COLLET_ENGINES_TERNARY_OUTPUT_H

#include "io/spool.h"
#include "ternary/formats/t2_file.h"

#include <collet/ternary.h>

struct collet_ternary_output {
    collet_t2_writer *writer; /* one of these two */
    collet_spool *spool;
    int64_t bytes, weights;
};

/* An .npy file at `path` with its head: `rows` rows of shape[0..ndim), or, with rows < 0, the axes
 * of `shape` alone. */
collet_status ternary_output_npy(collet_ternary_output **out, const char *path, collet_dtype dtype,
                                 int64_t rows, int32_t ndim, const int64_t *shape,
                                 collet_error *err);
/* A .t2 file of these layers, whose places in the file it fills in. */
collet_status ternary_output_t2(collet_ternary_output **out, const char *path,
                                collet_t2_layer *layers, uint32_t count, collet_error *err);

/* The next bytes of the data. */
collet_status ternary_output_add(collet_ternary_output *output, const void *bytes, uint64_t n,
                                 collet_error *err);
/* Call once all data are added; after it only the name is missing. */
collet_status ternary_output_finish(collet_ternary_output *output, collet_error *err);

/* Ends the writing of an output, which may be NULL: finishes it when `status` is COLLET_OK, and
 * frees it when something failed; else moves it to *out. */
collet_status ternary_output_end(collet_ternary_output **out, collet_ternary_output *output,
                                 collet_status status, collet_error *err);

#endif
