/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_cache - caches reports of probes between runs. Only a hint: a directory or file that is not
 * as expected is ignored, and nothing is written to it.
 *
 * The directory belongs to this user and is closed to others (0700). It holds a file for each
 * plugin and key, written under another name and renamed, and at most PROBE_CACHE_FILES of them:
 * the oldest go first. A report holds for the same file (path, inode, times, size, build-id),
 * collet-probe (which has libcore in it), boot, settings, threads, environment (LD_LIBRARY_PATH,
 * LD_PRELOAD, COLLET_* and what the manifest's `depends` names). Kept are lasting refusals, which
 * lie in the plugin's table, and successes with at least one device: a device that is missing may
 * appear.
 */
#ifndef COLLET_CORE_PROBE_CACHE_H
#define COLLET_CORE_PROBE_CACHE_H

#include "file.h"
#include "manifest.h"
#include "probe.h"

#define PROBE_CACHE_FILES 64

/* What a report depends on. Lent for the call. */
typedef struct probe_cache_key {
    const char *directory;
    const char *path;
    const char *program; /* collet-probe; NULL: not known where */
    const file_identity *file;
    const manifest *manifest;
    const char *const *settings; /* NULL-terminated or NULL */
    int32_t threads;
} probe_cache_key;

/* 1 when there is a report: probe_report_clear it. */
int probe_cache_get(const probe_cache_key *key, probe_report *report);
/* Keeps the report when it is of a kind that lasts. Makes the directory when it is missing. */
void probe_cache_put(const probe_cache_key *key, const probe_report *report);

#endif
