/* SPDX-License-Identifier: Apache-2.0 */
/* directory.h - creates directories, and checks the space on their disk. */
#pragma once

#include <collet/collet.h>

/* Creates the directory unless it exists; *made becomes 1 if it was created. IO. */
collet_status tool_make_directory(const char *path, int *made, collet_error *err);
/* Returns IO if the disk of a directory, which need not exist yet, has less space than `bytes`; `what` is for the
 * message. Returns OK if the space is not known. */
collet_status tool_check_space(const char *directory, double bytes, const char *what,
                               collet_error *err);
