/* SPDX-License-Identifier: Apache-2.0 */
/* open - loads a plugin's file and checks its table; used by the probe, then by the program. */
#pragma once

#include <collet/plugin.h>

#include "manifest.h"

/* The part of the plugin that runs next; its letter is the progress mark of the probe. */
#define OPEN_CONSTRUCTOR 'l'
#define OPEN_ENTRY 'e'
#define OPEN_TABLE 'v'

/* Refuses an open file with "noexec" if the system does not map code of it. `path` is used if /proc
 * is missing; it may contain links. */
collet_status open_allowed(const char *path, int fd, refusal *why);

/* Called before each step; may be NULL. */
typedef void (*open_progress_fn)(char step);

/* dlopen (RTLD_NOW | RTLD_LOCAL), entry, vtable_verify. Restores the thread's floating-point
 * control; a plugin that changes it is refused. The file is never closed, even if it is refused,
 * because functions that it has registered may still be called. UNAVAILABLE for reasons that may be
 * temporary ("missing-library", "load-failed"), FORMAT and ABI for permanent reasons, NO_MEMORY.
 */
collet_status open_plugin(const char *path, const manifest *m, const collet_host *host,
                          open_progress_fn progress, const collet_plugin **vtable, refusal *why);

/* Like open_plugin, for a layer. Replaces *table, the table below, by the layer's table over it.
 * The layer's table must pass the same checks with the manifest `m` of the backend, and have the
 * same rows and own ops ("layer-differs"). */
collet_status open_layer(const char *path, const manifest *m, const collet_host *host,
                         const collet_plugin **table, refusal *why);

/* Implements collet_host.extension: libcore's tables collet.host_memory and collet.host_threads,
 * else NULL. */
const void *open_host_extension(const collet_host *host, const char *name);
/* Implements collet_host.log_text with the host's `log`. */
void open_host_log_text(const collet_host *host, int32_t level, const char *text);
