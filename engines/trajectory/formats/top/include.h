/* SPDX-License-Identifier: Apache-2.0 */
/* include.h - finds the file of an #include. */
#pragma once

#include "trajectory/formats/text.h"

/*
 * Sets *path, which the caller frees, to the file `name` of an #include in the line `where`. Searches the
 * folder of the including file, the folder of the first file `root`, the folders of the environment variable
 * GMXLIB, `top` in GMXDATA, and the folders where Debian and GROMACS install such files. COLLET_FORMAT with the
 * folders searched if there is no such file; COLLET_NO_MEMORY.
 */
collet_status trajectory_top_find(const io_lines *where, const char *root, trajectory_word name,
                                  char **path, collet_error *err);
