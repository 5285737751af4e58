/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_util.c */
#include "text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numerals.h"

void text_clear(text_buffer *t)
{
    t->length = 0;
    t->bytes[0] = '\0';
}

void text_add(text_buffer *t, const char *format, ...)
{
    va_list arguments;
    size_t space = sizeof t->bytes - t->length;
    va_start(arguments, format);
    locale_t before = numerals_begin();
    int length = vsnprintf(t->bytes + t->length, space, format, arguments);
    numerals_end(before);
    va_end(arguments);
    if (length < 0) {
        t->bytes[t->length] = '\0';
    } else if ((size_t)length >= space) {
        t->length = sizeof t->bytes - 1;
        memcpy(t->bytes + t->length - 3, "...", 4);
    } else {
        t->length += (size_t)length;
    }
}

void text_add_shape(text_buffer *t, int32_t ndim, const int64_t *shape)
{
    if (ndim == 0)
        text_add(t, "()");
    for (int32_t i = 0; i < ndim; i++)
        text_add(t, "%s%" PRId64, i ? " x " : "", shape[i]);
}

/* ---- Messages ---------------------------------------------------------------------------- */

int text_hidden(uint32_t code)
{
    return code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
           code == 0xfeff;
}

size_t text_character(const char *text, size_t size)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)text;
    if (!size)
        return 0;
    if (byte[0] >= ' ' && byte[0] < 0x7f) /* most bytes */
        return 1;
    size_t length = byte[0] < 0x80 ? 1 : byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
    uint32_t code = length == 1 ? byte[0] : byte[0] & (0x7fu >> length);
    if (length > size || byte[0] > 0xf4 || (byte[0] >= 0x80 && byte[0] < 0xc2))
        return 0;
    for (size_t i = 1; i < length; code = code << 6 | (byte[i++] & 0x3f))
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
    int fine = code >= ' ' && (code < 0x7f || code >= 0xa0) && code >= smallest[length] &&
               code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) && !text_hidden(code);
    return fine ? length : 0;
}

void text_message(char *out, size_t size, const char *format, va_list arguments)
{
    char raw[COLLET_ERROR_TEXT];
    const int lines = strchr(format, '\n') != NULL;
    size_t done = 0, length;
    locale_t before = numerals_begin();
    int formatted = vsnprintf(raw, size < sizeof raw ? size : sizeof raw, format, arguments);
    numerals_end(before);
    if (formatted < 0)
        raw[0] = '\0';
    length = strlen(raw);
    while (raw[done] >= ' ' && raw[done] < 0x7f) /* most texts have only such bytes */
        done++;
    memcpy(out, raw, done);
    for (size_t at = done, bytes; at < length; at += bytes) {
        size_t character = raw[at] == '\n' && lines ? 1 : text_character(raw + at, length - at);
        bytes = character ? character : 1;
        if (done + (character ? bytes : 4) >= size)
            break;
        if (character)
            memcpy(out + done, raw + at, bytes);
        else
            snprintf(out + done, 5, "\\x%02x", (unsigned char)raw[at]);
        done += character ? bytes : 4;
    }
    out[done] = '\0';
}

/* ---- Edit distance ----------------------------------------------------------------------- */

#define DISTANCE_MAX 64

static size_t smallest(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t text_distance(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    size_t row[3][DISTANCE_MAX + 1];
    if (n >= DISTANCE_MAX || m >= DISTANCE_MAX)
        return SIZE_MAX;
    size_t *before = row[0], *last = row[1], *now = row[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = before[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t change = a[i - 1] != b[j - 1];
            now[j] = smallest(smallest(last[j], now[j - 1]) + 1, last[j - 1] + change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smallest(now[j], before[j - 2] + 1);
        }
        size_t *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[m];
}

size_t text_near(const char *name)
{
    size_t third = (strlen(name) + 1) / 3;
    return third ? smallest(third, 3) : 1;
}

void text_nearest(const char *name, const char *known, const char **best)
{
    size_t distance = text_distance(name, known);
    if (distance <= text_near(name) && (!*best || distance < text_distance(name, *best)))
        *best = known;
}

int text_list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (list && *list) {
        list += strspn(list, ", \t");
        size_t n = strcspn(list, ", \t");
        if (n && n == length && !memcmp(list, word, n))
            return 1;
        list += n;
    }
    return 0;
}

/* This does not use isspace, because isspace depends on the locale. */
static int is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

char *text_trimmed(const char *begin, const char *end)
{
    while (begin < end && is_blank(*begin))
        begin++;
    while (begin < end && is_blank(end[-1]))
        end--;
    return strndup(begin, (size_t)(end - begin));
}
