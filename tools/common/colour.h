/* SPDX-License-Identifier: Apache-2.0 */
/* colour.h - colours important words, on terminals only. */
#pragma once

#include <stdio.h>

typedef enum tool_paint { TOOL_PLAIN, TOOL_GREEN, TOOL_YELLOW, TOOL_RED } tool_paint;

/* Returns the sequence that begins a colour on the stream; TOOL_PLAIN ends it. "" unless the stream is a terminal,
 * NO_COLOR is unset or empty, and TERM is set and not "dumb". */
const char *tool_colour(FILE *stream, tool_paint paint);

/* Prints "PROGRAM: TEXT" on standard error, the text in red. */
void tool_complain(const char *program, const char *text);

/* Prints "PROGRAM: warning: TEXT" on standard error, the first word in yellow. */
void tool_warn(const char *program, const char *text);
