/* SPDX-License-Identifier: Apache-2.0 */
/* paths.h - paths of the output. */
#ifndef COLLET_EXTRACT_PATHS_H
#define COLLET_EXTRACT_PATHS_H

#include "settings.h"

/*
 * The path of the meta file, OUT.meta.json next to OUT.npz or DIR/meta.json, in *meta, which the
 * caller frees. `flags`: COLLET_EXTRACTION_*. COLLET_INVALID when `output` does not end in ".npz",
 * or one of the two is an input; COLLET_IO when one of them exists and may not be replaced;
 * COLLET_NO_MEMORY. *meta is NULL after an error.
 */
collet_status extract_paths_check(const extract_settings *settings, const char *output,
                                  uint32_t flags, char **meta, collet_error *err);

#endif
