/* SPDX-License-Identifier: Apache-2.0 */
/* signature.h - recognises files of other formats that users pass by mistake. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the end of a message "it looks like ...": the type of a file, and how to convert the file. The type is
 * found by the first n bytes, or else by the name. Returns a static text; NULL: unknown. */
const char *io_signature_describe(const char *path, const uint8_t *bytes, size_t n);

/* 1 if files with a name like `path` have contents that look like another format. */
int io_signature_misleads(const char *path);

/* 1 if a path ends in `suffix`, such as ".gro", or in `suffix` and the suffix of a packed file, such as ".gro.gz".
 * Ignores upper and lower case. */
int io_signature_suffix(const char *path, const char *suffix);
