/* SPDX-License-Identifier: Apache-2.0 */
/* Text helpers: a bounded buffer for messages, and edit distance. */
#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <collet/types.h>

/* Appends as much text as fits. The buffer always ends with a NUL; a truncated text ends in
 * "...". */
typedef struct text_buffer {
    size_t length;
    char bytes[COLLET_ERROR_TEXT];
} text_buffer;

void text_clear(text_buffer *t);
void text_add(text_buffer *t, const char *format, ...) COLLET_PRINTF(2, 3);
/* Writes a shape: "3 x 4 x 5"; "()" for no axes. */
void text_add_shape(text_buffer *t, int32_t ndim, const int64_t *shape);

/* Invisible characters of Unicode: direction marks (U+202E), which can make a name look like
 * another line, joiners and others without width, line ends. U+061C, U+200B-200F, U+2028-202E,
 * U+2060-206F, U+FEFF. */
int text_hidden(uint32_t code);
/* The number of bytes of the first character of `text`, which has `size` bytes. 0 if the character is invalid UTF-8
 * (RFC 3629), a control character (C0, DEL, C1), which a terminal might execute, or an invisible
 * character. */
size_t text_character(const char *text, size_t size);
/* vsnprintf for messages, at most COLLET_ERROR_TEXT bytes. Messages may quote anything, so bytes that text_character
 * refuses become \xNN. Line ends stay if `format` itself contains a line end. */
void text_message(char *out, size_t size, const char *format, va_list arguments);

/* 1 for an ASCII letter. isalpha is not used, because it depends on the locale. */
static inline int text_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Edit distance (insert, delete, replace, swap of neighbours); a large number if a text has 64
 * bytes or more. */
size_t text_distance(const char *a, const char *b);
/* The largest distance at which a known name is suggested for an unknown name. */
size_t text_near(const char *name);
/* Sets *best (NULL at first) to `known` if it is similar to `name`, and more similar than *best. */
void text_nearest(const char *name, const char *known, const char **best);

/* 1 if a list, separated by commas and blanks, contains the word. NULL: an empty list. */
int text_list_has(const char *list, const char *word);

/* Copies [begin, end) without surrounding blanks into a new string; NULL on out of memory. */
char *text_trimmed(const char *begin, const char *end);
