/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - collects rows of all outputs and returns those of the same frames together.
 *
 * One thread appends, another one takes. dL/dt of a frame comes later than its other rows; order
 * and size of what is appended do not matter.
 */
#ifndef COLLET_EXTRACT_ROWS_H
#define COLLET_EXTRACT_ROWS_H

#include "compute/outputs.h"

#include <collet/trajectory.h>

typedef struct extract_rows extract_rows;

/* `wanted`: 0 or 1 for each output. COLLET_NO_MEMORY; *out is then NULL. */
collet_status extract_rows_create(const int32_t wanted[EXTRACT_MAX_OUTPUTS], extract_rows **out,
                                  collet_error *err);

/* An extract_emit_fn (derivation.h); `rows` is an extract_rows. */
collet_status extract_rows_put(void *rows, int32_t buffer, int64_t n, const double *values,
                               collet_error *err);

/* Frames with rows of every wanted output. */
int64_t extract_rows_ready(extract_rows *rows);

/* Removes the first n frames that are ready; valid until the next call. COLLET_NO_MEMORY. */
collet_status extract_rows_take(extract_rows *rows, int64_t n, const collet_extraction_batch **out,
                                collet_error *err);

/* NULL is allowed. */
void extract_rows_free(extract_rows *rows);

#endif
