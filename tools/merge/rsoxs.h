/* SPDX-License-Identifier: Apache-2.0 */
/* rsoxs.h - patterns that shards of collet-rsoxs computed. */
#pragma once

/* 1 if the directory `path` has the file in which shards of collet-rsoxs describe their work. */
int merge_is_rsoxs(const char *path);

/* Completes the work of the shards in `path`, whose patterns are in `directory`: names missing patterns, and makes
 * the results that no single shard could make. Prints a message and returns the exit status. */
int merge_rsoxs(const char *path, const char *directory, int quiet);
