/* SPDX-License-Identifier: Apache-2.0 */
/* paths.h - where the output goes. */
#ifndef COLLET_EXTRACT_PATHS_H
#define COLLET_EXTRACT_PATHS_H

#include "options.h"

#include <collet/collet.h>

/*
 * The output's path (-o, -d, or the trajectory's name with .npz in the working directory) and that
 * of its meta file: OUT.meta.json beside OUT.npz, or DIR/meta.json. The caller frees both.
 * COLLET_INVALID when one of them is an input of the run, COLLET_NO_MEMORY; both are then NULL.
 */
collet_status extract_paths_output(const extract_options *options, char **output, char **meta,
                                   collet_error *err);

#endif
