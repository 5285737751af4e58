/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - directories and files, by name. */
#ifndef TOOLS_RSOXS_FILES_H
#define TOOLS_RSOXS_FILES_H

#include <collet/collet.h>

/* Makes the directory unless it exists; *made: whether it did. IO. */
collet_status rsoxs_make_directory(const char *path, int *made, collet_error *err);

#endif
