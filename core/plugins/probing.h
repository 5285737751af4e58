/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probing - determines the features of plugins: from the cache, else by concurrent probes.
 *
 * A probe that dies (crash, hang, exit) is repeated in safe mode if the manifest declares the
 * setting "<name>.safe_mode" and the user has not set it: that key then has the reason why the probe died, and the
 * plugin uses nothing optional, such as libraries. If the second probe succeeds, its capabilities get the same text
 * as the choice "safe_mode", for later processes and for reports from the cache. Reports after a hang are not cached,
 * because the machine may only have been busy. Under a limit on memory such reports are cached for a day, because the
 * limit may be the cause.
 */
#pragma once

#include "plugin.h"
#include "probe.h"

#define PROBING_SAFE_MODE "safe_mode"

/* The caller sets the first three members, which must be valid during the call, and frees all other members by
 * probing_clear. */
typedef struct probing {
    const char *path;
    const manifest *manifest;
    const file_identity *file;
    char *death_code, *death_reason; /* report of a probe that died and was repeated; else NULL */
    probe_report report;             /* last report; after success in safe mode `reason` says why */
    int cached, pending;
    const char **settings; /* settings for safe mode; NULL: the options' settings are used */
} probing;

/* The path of collet-probe, which the caller frees. NULL if the path is unknown; also, with a
 * warning, if the file is not trusted by the rules for plugins, or is built for another processor.
 * A missing file is reported when it is started. NO_MEMORY. */
collet_status probing_find_program(const loader_options *options, char **program,
                                   collet_error *err);

/* Fills death_* and report of each; program is collet-probe's path or NULL. NO_MEMORY. Any thread;
 * blocks up to twice the time limit for each PROBE_MAX_AT_ONCE plugins. */
collet_status probing_run(const loader_options *options, const char *program, probing *list,
                          size_t count, collet_error *err);
void probing_clear(probing *p);
