/* SPDX-License-Identifier: Apache-2.0 */
/* shards.h - all shards of a work, in order. */
#pragma once

#include "shard.h"

typedef struct trajectory_shards {
    trajectory_shard *list; /* shards 1 to n; if the rows end in a shard, this shard is the last */
    int64_t n;
} trajectory_shards;

/*
 * Reads the notes of the shards `paths`; a directory stands for the shards in it. COLLET_NOT_FOUND if shards
 * are missing; COLLET_INVALID if shards belong to other work or a shard is given twice; the text names these shards.
 * COLLET_IO, FORMAT, NO_MEMORY. The caller frees the shards, also after an error.
 */
collet_status trajectory_shards_open(const char *const *paths, int64_t n_paths,
                                     trajectory_shards *shards, collet_error *err);
/* A struct of zeros is allowed. */
void trajectory_shards_free(trajectory_shards *shards);

/* Writes the first difference between two works (work.h) to `text`: "keys: \"com\", not \"rg\""; "" if there
 * is none. */
void trajectory_shards_differ(const cJSON *work, const cJSON *other, char *text, size_t size);
