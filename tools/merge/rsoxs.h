/* SPDX-License-Identifier: Apache-2.0 */
/* rsoxs.h - patterns that shards of collet-rsoxs computed. */
#ifndef TOOLS_MERGE_RSOXS_H
#define TOOLS_MERGE_RSOXS_H

/* 1: shards of collet-rsoxs divided the work of the directory DIR.shards. */
int merge_is_rsoxs(const char *path);

/* Completes the work of the shards in `path`, whose patterns are in `directory`: names what is
 * missing, and makes what no shard could make alone. Returns the exit status, after a message. */
int merge_rsoxs(const char *path, const char *directory, int quiet);

#endif
