/* SPDX-License-Identifier: Apache-2.0 */
/* size.h - numbers of bytes and plurals in texts. */
#pragma once

#include <stdint.h>

#define TOOL_SIZE_TEXT 24

/* Writes "640 B", "1.5 KiB" or "24.2 MiB": about three digits, in the largest unit that makes the
 * number at least 1. Returns `text`. */
const char *tool_size_format(char text[TOOL_SIZE_TEXT], double bytes);

/* Returns the ending of a noun after a count: "" for 1, else "s". */
static inline const char *tool_plural(int64_t count)
{
    return count == 1 ? "" : "s";
}
