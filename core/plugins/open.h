/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open - loads a plugin's file and takes its table. The probe does it in a child, the loader here.
 */
#ifndef COLLET_CORE_OPEN_H
#define COLLET_CORE_OPEN_H

#include <collet/plugin.h>

#include "manifest.h"

/* What of the plugin's runs next. The letters are the probe's progress marks. */
#define OPEN_CONSTRUCTOR 'l'
#define OPEN_ENTRY 'e'
#define OPEN_TABLE 'v'

/* Told before each step; may be NULL. */
typedef void (*open_progress_fn)(char step);

/*
 * dlopen (RTLD_NOW | RTLD_LOCAL), entry, vtable_verify. The thread's floating-point control is as
 * before afterwards; a plugin that changed it is refused. The file is never closed again, not even
 * when it was refused: what it has registered may still be called.
 * *code is a stable word (loader.h). UNAVAILABLE for what may be otherwise next time
 * ("missing-library", "load-failed"), FORMAT and ABI for what will not, NO_MEMORY.
 */
collet_status open_plugin(const char *path, const manifest *m, const collet_host *host,
                          open_progress_fn progress, const collet_plugin **vtable,
                          const char **code, collet_error *err);

#endif
