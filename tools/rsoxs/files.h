/* SPDX-License-Identifier: Apache-2.0 */
/* files.h - directories and files, by name. */
#ifndef RSOXS_FILES_H
#define RSOXS_FILES_H

#include <collet/collet.h>

/* Makes the directory unless it exists; *made: whether it did. IO. */
collet_status rsoxs_make_directory(const char *path, int *made, collet_error *err);
/* INVALID if both are the same file, by whatever names. */
collet_status rsoxs_check_output(const char *output, const char *input, collet_error *err);

#endif
