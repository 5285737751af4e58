/* SPDX-License-Identifier: Apache-2.0 */
/* shards.h - the results of a work from its shards. */
#ifndef TOOLS_MERGE_SHARDS_H
#define TOOLS_MERGE_SHARDS_H

#include "options.h"

/* 1: `path` is a directory, or would be one by its name; NULL is allowed. */
int merge_is_shards(const char *path);

/* Writes the results of the directory options->paths[0], reports, and returns the exit status. */
int merge_shards(const merge_options *options);

#endif
