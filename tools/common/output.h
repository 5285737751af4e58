/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - prints text from outside without control characters and as valid UTF-8. The texts of
 * libcore's errors, log and records already meet both conditions. */
#ifndef TOOLS_COMMON_OUTPUT_H
#define TOOLS_COMMON_OUTPUT_H

#include <cjson/cJSON.h>
#include <collet/collet.h>

/* Returns the text as one line; bytes that cannot be shown become \xNN. The result is never freed. */
const char *tool_shown(const char *text);

/* Flushes standard output. If this part, or an earlier part, cannot be written: returns 0, with the reason
 * and `note` (NULL: none) on standard error. */
int tool_flush(const char *program, const char *note);

/* Prints the tree on standard output. 0 if out of memory, or if the tree is NULL. */
int tool_print_json(const cJSON *tree);

/* Writes the tree to a file, which appears under its name only when it is complete; it replaces an existing
 * file only if `replace` is 1. On a failure returns 0 and sets *err. */
int tool_write_json(const cJSON *tree, const char *path, int replace, collet_error *err);

#endif
