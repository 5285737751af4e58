/* SPDX-License-Identifier: Apache-2.0 */
/* include.h - where an included file is. */
#ifndef ENGINES_TRAJECTORY_FORMATS_TOP_INCLUDE_H
#define ENGINES_TRAJECTORY_FORMATS_TOP_INCLUDE_H

#include "trajectory/formats/text.h"

/*
 * Finds the file of an #include in the line `where`, as a path that the caller frees. It is looked
 * for next to the file that includes it, next to the first file, `root`, in the folders of GMXLIB,
 * in `top` of GMXDATA, and where Debian and GROMACS install theirs. COLLET_FORMAT with the places if
 * there is none; COLLET_NO_MEMORY.
 */
collet_status trajectory_top_find(const io_lines *where, const char *root, trajectory_word name,
                                  char **path, collet_error *err);

#endif
