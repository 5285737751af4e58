/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_cache - caches reports of probes between runs. The cache is only a hint: unexpected directories and files are
 * ignored, and nothing is written to them.
 *
 * The directory belongs to this user, and other users have no access (0700). It has a file for each plugin and key; a
 * file is written under another name and renamed. The cache keeps at most PROBE_CACHE_FILES files, and removes the
 * oldest files first. A report is valid while these stay the same: the file (path, inode, times,
 * size, build-id), collet-probe (which contains libcore), boot, settings, threads, number of
 * processors, resource limits, environment (LD_LIBRARY_PATH, LD_PRELOAD, COLLET_*), and the
 * variables and files in the manifest's `depends`. The cache keeps refusals because of the plugin's
 * table, and successes. A success without devices is kept only if the capabilities say `lasting` or
 * the backend has named devices: a missing device may appear.
 */
#pragma once

#include "file.h"
#include "manifest.h"
#include "probe.h"

#define PROBE_CACHE_FILES 64

/* Everything that a report depends on; valid during the call. */
typedef struct probe_cache_key {
    const char *directory; /* "": no cache */
    const char *path;
    const char *program; /* collet-probe; NULL: unknown */
    const file_identity *file;
    const manifest *manifest;
    const char *const *settings; /* NULL-terminated or NULL */
    int32_t threads;
} probe_cache_key;

/* 1 if there is a report, which the caller frees by probe_report_clear. */
int probe_cache_get(const probe_cache_key *key, probe_report *report);
/* Stores the report if it is of a kind that is cached; `brief` = 1: valid for a day. Creates the
 * directory if it is missing. */
void probe_cache_put(const probe_cache_key *key, const probe_report *report, int brief);
