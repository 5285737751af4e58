/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probing - finds what plugins can do: in the cache, else by concurrent probes.
 *
 * A probe that dies (crash, hang, exit) is repeated in safe mode where the manifest says that the
 * plugin has one and the user has not set the key "<name>.safe_mode": that key then says how the
 * first probe died. A plugin that can do without what killed it (libraries, say) leaves it alone.
 * When the second probe succeeds, its capabilities get the same text as the choice "safe_mode", by
 * which later processes, and those that find the report in the cache, know of it too. What was
 * found after a hang is not cached: the machine may only have been busy.
 */
#ifndef COLLET_CORE_PROBING_H
#define COLLET_CORE_PROBING_H

#include "plugin.h"
#include "probe.h"

#define PROBING_SAFE_MODE "safe_mode"

/* The first three are lent for the call, `death` and `report` belong to the caller:
 * probing_clear. */
typedef struct probing {
    const char *path;
    const manifest *manifest;
    const file_identity *file;
    char *death_code, *death_reason; /* of a probe that died and was repeated; NULL: none did */
    probe_report report;             /* the last; `reason` of a success tells of safe mode */
    int cached;
} probing;

/* Fills death_* and report of each; program is collet-probe's path or NULL. NO_MEMORY. Any thread;
 * blocks up to twice the time limit for each PROBE_MAX_AT_ONCE plugins. */
collet_status probing_run(const loader_options *options, const char *program, probing *list,
                          size_t count, collet_error *err);
void probing_clear(probing *p);

#endif
