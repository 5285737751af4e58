/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - directories, by name. */
#ifndef TOOLS_RSOXS_FILES_H
#define TOOLS_RSOXS_FILES_H

#include <collet/collet.h>

/* Makes the directory unless it exists; *made: whether it did. IO. */
collet_status rsoxs_make_directory(const char *path, int *made, collet_error *err);
/* IO if the disk of a directory, which need not exist yet, has too little room for `what`. Where
 * that is not known, OK. */
collet_status rsoxs_check_space(const char *directory, double bytes, const char *what,
                                collet_error *err);

#endif
