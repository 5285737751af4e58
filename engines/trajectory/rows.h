/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - collects rows of all outputs and returns those of the same frames together.
 *
 * One thread appends, another one takes. dL/dt of a frame is appended later than its other rows;
 * order and size of what is appended do not matter.
 */
#ifndef COLLET_EXTRACT_ROWS_H
#define COLLET_EXTRACT_ROWS_H

#include "compute/outputs.h"

#include <collet/trajectory.h>

typedef struct extract_rows extract_rows;

/* Takes n rows of an output, contiguous; those of dL/dt come one frame later than the others. */
typedef collet_status (*extract_rows_fn)(void *user, size_t output, int64_t n, const double *rows,
                                         collet_error *err);

/* For the outputs whose `left_out` is NULL. COLLET_NO_MEMORY; *out is then NULL. */
collet_status extract_rows_create(const char *const left_out[EXTRACT_MAX_OUTPUTS],
                                  extract_rows **out, collet_error *err);

/* An extract_rows_fn; `rows` is an extract_rows. */
collet_status extract_rows_put(void *rows, size_t output, int64_t n, const double *values,
                               collet_error *err);

/* Frames with rows of every output. */
int64_t extract_rows_ready(extract_rows *rows);

/* Removes the first n frames that are ready; valid until the next call. COLLET_NO_MEMORY. */
collet_status extract_rows_take(extract_rows *rows, int64_t n, const collet_extraction_batch **out,
                                collet_error *err);

/* NULL is allowed. */
void extract_rows_free(extract_rows *rows);

#endif
