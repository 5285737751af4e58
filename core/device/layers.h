/* SPDX-License-Identifier: Apache-2.0 */
/* What lies between libcore and the backends. */
#ifndef CORE_DEVICE_LAYERS_H
#define CORE_DEVICE_LAYERS_H

#include "backend.h"

/* Sets r->layers from the setting; the plugins are listed. INVALID for the name of no layer,
 * UNAVAILABLE for one that was refused, NO_MEMORY. */
collet_status layers_choose(collet_runtime *runtime, collet_error *err);
/* *table, the backend's at first, becomes that of the outermost layer. As loader_open. */
collet_status layers_open(const backend *b, const collet_plugin **table, collet_error *err);

#endif
