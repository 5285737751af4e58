/* SPDX-License-Identifier: Apache-2.0 */
/* start.h - prepares the work of a trajectory: opens contexts, and chooses threads and sizes of batches. */
#pragma once

#include "state.h"

#define TRAJECTORY_BLOCK_ROWS 16384 /* maximum number of rows of a block, to limit memory with many bodies */

/* Opens the context, the devices and, unless a context was given, the runtime. */
collet_status trajectory_start_context(collet_trajectory *x, collet_error *err);

/* Chooses threads and batches of at most `rows` rows; `reading` tells which fields are read. */
void trajectory_start_sizes(collet_trajectory *x, int64_t rows, int64_t rows_a_frame,
                            trajectory_readahead_options *reading);
