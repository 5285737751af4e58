/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - gathers the rows of all outputs until those of the same frames are there.
 *
 * One thread puts rows in, another one takes them: dL/dt of a frame comes later than its other
 * rows, and neither order nor size of what is put in matters.
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

/* Frames of which every wanted output is there. */
int64_t extract_rows_ready(extract_rows *rows);

/* Takes the first n frames that are ready; lent until the next call. COLLET_NO_MEMORY. */
collet_status extract_rows_take(extract_rows *rows, int64_t n, const collet_extraction_batch **out,
                                collet_error *err);

/* NULL is allowed. */
void extract_rows_free(extract_rows *rows);

#endif
