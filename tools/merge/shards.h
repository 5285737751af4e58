/* SPDX-License-Identifier: Apache-2.0 */
/* shards.h - results from the shards of a run. */
#pragma once

#include "options.h"

/* 1 if `path` is a directory, or if its name is the name of a directory of shards; `path` may be NULL. */
int merge_is_shards(const char *path);

/* Writes the results from the shards in options->paths[0], prints a report, and returns the exit status. */
int merge_shards(const merge_options *options);
