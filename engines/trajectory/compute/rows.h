/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - collects the rows of all outputs and returns the rows of one frame together.
 *
 * One thread appends rows, a second thread takes them. Rows of different outputs may be appended in any order and in
 * pieces of any size. For example, dL/dt of a frame comes later than the other rows of the frame.
 */
#pragma once

#include "outputs.h"

#include <collet/trajectory.h>

typedef struct trajectory_rows trajectory_rows;

/* Receives an output's numbers of n frames, contiguous: a frame has all its bodies or atoms. Rows of dL/dt come one
 * frame later than rows of the other outputs. */
typedef collet_status (*trajectory_rows_fn)(void *user, size_t output, int64_t n,
                                            const double *rows, collet_error *err);

/* Creates rows for the outputs whose `left_out` is NULL. COLLET_NO_MEMORY;
 * *out is then NULL. */
collet_status trajectory_rows_create(const char *const left_out[TRAJECTORY_MAX_OUTPUTS],
                                     trajectory_extent extent, trajectory_rows **out,
                                     collet_error *err);

/* A trajectory_rows_fn; `rows` is a trajectory_rows. */
collet_status trajectory_rows_put(void *rows, size_t output, int64_t n, const double *values,
                                  collet_error *err);

/* Returns the number of frames for which every output has its row. */
int64_t trajectory_rows_ready(trajectory_rows *rows);

/* Removes the rows of the first n ready frames; the result is valid until the next call.
 * COLLET_NO_MEMORY. */
collet_status trajectory_rows_take(trajectory_rows *rows, int64_t n,
                                   const collet_trajectory_batch **out, collet_error *err);

/* NULL is allowed. */
void trajectory_rows_free(trajectory_rows *rows);
