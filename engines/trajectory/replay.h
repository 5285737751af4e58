/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - reads the rows and notes of all shards of a work in order; they replace the computation of frames. */
#pragma once

#include "compute/analysis.h"
#include "inputs.h"
#include "shards/notes.h"
#include "shards/shards.h"

typedef struct trajectory_replay trajectory_replay;

/* Opens the shards that options.parts names, and sets *settings to the options of their work (work.h).
 * Errors are the errors of trajectory_shards_open and trajectory_work_settings; after an error nothing is left to
 * free. */
collet_status trajectory_replay_open(const collet_trajectory_options *options,
                                     trajectory_settings *settings, trajectory_replay **out,
                                     collet_error *err);
/* NULL is allowed. */
void trajectory_replay_free(trajectory_replay *replay);

/* Returns the number of rows. */
int64_t trajectory_replay_rows(const trajectory_replay *replay);

/* COLLET_INVALID if an output at `path` would replace a shard. */
collet_status trajectory_replay_check(const trajectory_replay *replay, const char *path,
                                      collet_error *err);

/* Begins to read rows: the buffers of the set `sums`, at most `most` frames at a time. `inputs` must stay open. */
void trajectory_replay_start(trajectory_replay *replay, const trajectory_inputs *inputs,
                             uint64_t sums, int64_t most);

/* Reads the next *n rows and adds them to *notes; *n is 0 after the last row. (*sums)[i] belongs to trajectory_sums[i]
 * (outputs.h) and is valid until the next call. COLLET_IO, FORMAT, NO_MEMORY. */
collet_status trajectory_replay_next(trajectory_replay *replay, trajectory_notes *notes, int64_t *n,
                                     const double *const **sums, collet_error *err);

/* Call it after the last row. Gives the inputs' reader the data that it would have after reading the last frame.
 * Inserts the backends that computed the shards before the backends in `ran`. */
void trajectory_replay_finish(const trajectory_replay *replay, trajectory_inputs *inputs,
                              trajectory_analysis_notes *ran);
