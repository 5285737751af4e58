/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - prints text from outside without control characters and as valid UTF-8. The texts of
 * libcore's errors, log and records already meet both conditions. */
#pragma once

#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdio.h>
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

typedef enum tool_paint { TOOL_PLAIN, TOOL_GREEN, TOOL_YELLOW, TOOL_RED } tool_paint;

/* Returns the sequence that begins a colour on the stream; TOOL_PLAIN ends it. "" unless the stream is a terminal,
 * NO_COLOR is unset or empty, and TERM is set and not "dumb". */
const char *tool_colour(FILE *stream, tool_paint paint);

/* Prints "PROGRAM: TEXT" on standard error, the text in red. */
void tool_complain(const char *program, const char *text);

/* Prints "PROGRAM: warning: TEXT" on standard error, the first word in yellow. */
void tool_warn(const char *program, const char *text);

#define TOOL_SIZE_TEXT 24

/* Writes "640 B", "1.5 KiB" or "24.2 MiB": about three digits, in the largest unit that makes the
 * number at least 1. Returns `text`. */
const char *tool_size_format(char text[TOOL_SIZE_TEXT], double bytes);

/* Returns the ending of a noun after a count: "" for 1, else "s". */
static inline const char *tool_plural(int64_t count)
{
    return count == 1 ? "" : "s";
}
