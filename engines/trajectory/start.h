/* SPDX-License-Identifier: Apache-2.0 */
/* start.h - what the work of a trajectory begins with: contexts, and sizes of batches. */
#ifndef ENGINES_TRAJECTORY_START_H
#define ENGINES_TRAJECTORY_START_H

#include "state.h"

#define TRAJECTORY_BLOCK_ROWS 16384 /* that a block has at most: rows of many bodies limit memory */

/* Opens the runtime unless a context was given, the context and the devices. */
collet_status trajectory_start_context(collet_trajectory *x, collet_error *err);

/* Chooses threads and batches of at most `rows` rows; `reading` says which fields are read. */
void trajectory_start_sizes(collet_trajectory *x, int64_t rows, int64_t rows_a_frame,
                            trajectory_readahead_options *reading);

#endif
