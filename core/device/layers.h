/* SPDX-License-Identifier: Apache-2.0 */
/* Layers: tables between libcore and the backends. */
#pragma once

#include "backend.h"

/* Sets r->layers from the setting, after the plugins were listed. INVALID if a name is not the
 * name of a layer, UNAVAILABLE if a layer was refused, NO_MEMORY. */
collet_status layers_choose(collet_runtime *runtime, collet_error *err);
/* Opens all layers over the backend's table *table, which becomes the table of the outermost layer.
 * Errors as in loader_open. */
collet_status layers_open(const backend *b, const collet_plugin **table, collet_error *err);
