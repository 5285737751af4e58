/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - text from outside: names in files, paths, what libraries say. */
#ifndef ENGINES_IO_UTF8_H
#define ENGINES_IO_UTF8_H

#include <stddef.h>

/* Bytes of the character that `text` of `size` bytes begins with; 0 where it begins with invalid
 * UTF-8 (RFC 3629), a control character (C0, DEL, C1), which a terminal might execute, or a
 * character of Unicode that is not seen itself: a mark of direction (U+202E), a line end, a joiner
 * or one without width (U+061C, U+200B-200F, U+2028-202E, U+2060-206F, U+FEFF). */
size_t io_utf8_character(const char *text, size_t size);

/* Copies the characters of `text` that fit into size > 0 bytes with the NUL, each byte that
 * io_utf8_character refuses as '?'. */
void io_utf8_copy(char *out, size_t size, const char *text, size_t length);

/* A copy for a terminal or a line of text: what io_utf8_character refuses as \xNN, except
 * bytes of `keep`. The caller frees it; NULL when out of memory. */
char *io_utf8_shown(const char *text, const char *keep);

/* The same of a JSON text whose strings may hold any bytes, which makes it valid. */
char *io_utf8_json(const char *json);

#endif
