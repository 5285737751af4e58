/* SPDX-License-Identifier: Apache-2.0 */
/* directory.h - makes directories, and asks for the space on their disk. */
#ifndef TOOLS_COMMON_DIRECTORY_H
#define TOOLS_COMMON_DIRECTORY_H

#include <collet/collet.h>

/* Makes the directory unless it exists; *made: whether it did. IO. */
collet_status tool_make_directory(const char *path, int *made, collet_error *err);
/* IO if the disk of a directory, which need not exist yet, has too little room for `what`. Where
 * that is not known, OK. */
collet_status tool_check_space(const char *directory, double bytes, const char *what,
                               collet_error *err);

#endif
