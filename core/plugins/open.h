/* SPDX-License-Identifier: Apache-2.0 */
/* open - loads a plugin's file and checks its table: in the probe, then in the program. */
#ifndef CORE_PLUGINS_OPEN_H
#define CORE_PLUGINS_OPEN_H

#include <collet/plugin.h>

#include "manifest.h"

/* The part of the plugin that runs next. The letters are the progress marks of the probe. */
#define OPEN_CONSTRUCTOR 'l'
#define OPEN_ENTRY 'e'
#define OPEN_TABLE 'v'

/* Whether the system can map code of an open file; if no program can, refuses it with "noexec".
 * `path` is used where /proc is missing; it may contain links. */
collet_status open_allowed(const char *path, int fd, refusal *why);

/* Called before each step; may be NULL. */
typedef void (*open_progress_fn)(char step);

/*
 * dlopen (RTLD_NOW | RTLD_LOCAL), entry, vtable_verify. Restores the thread's floating-point
 * control; a plugin that changes it is refused. The file is never closed, even if it is refused:
 * what it has registered may still be called. UNAVAILABLE for reasons that may have gone at the
 * next attempt ("missing-library", "load-failed"), FORMAT and ABI for lasting ones, NO_MEMORY.
 */
collet_status open_plugin(const char *path, const manifest *m, const collet_host *host,
                          open_progress_fn progress, const collet_plugin **vtable, refusal *why);

/*
 * The same for a layer: *table, `below` at first, becomes the layer's table over it, which must
 * pass the checks of the backend's, by the manifest `m` of the backend, and have its rows and own
 * ops ("layer-differs").
 */
collet_status open_layer(const char *path, const manifest *m, const collet_host *host,
                         const collet_plugin **table, refusal *why);

/* collet_host.extension: libcore has none so far. */
const void *open_host_extension(const collet_host *host, const char *name);
/* collet_host.log_text, by the host's `log`. */
void open_host_log_text(const collet_host *host, int32_t level, const char *text);

#endif
