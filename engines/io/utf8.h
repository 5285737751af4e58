/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - checks text from outside: names in files, paths, texts of libraries. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the number of bytes of the first character of `text`, which has `size` bytes. 0 for invalid UTF-8
 * (RFC 3629), for a control character (C0, DEL, C1), which a terminal might execute, and for an
 * invisible character: a mark of direction (U+202E), a line end, a joiner, or a character without
 * width (U+061C, U+200B-200F, U+2028-202E, U+2060-206F, U+FEFF). */
size_t io_utf8_character(const char *text, size_t size);

/* Like io_utf8_character; also sets *code to the code point if the result is not 0. */
size_t io_utf8_decode(uint32_t *code, const char *text, size_t size);

/* Copies the characters of `text` that fit into size > 0 bytes with the NUL; each byte for which
 * io_utf8_character gives 0 becomes '?'. */
void io_utf8_copy(char *out, size_t size, const char *text, size_t length);

/* Returns a copy for a terminal or a line of text: bytes for which io_utf8_character gives 0 become \xNN,
 * except bytes in `keep`. The caller frees it; NULL when out of memory. */
char *io_utf8_shown(const char *text, const char *keep);

/* Like io_utf8_shown, for a JSON text whose strings may have any bytes. The result is a valid JSON text. */
char *io_utf8_json(const char *json);
