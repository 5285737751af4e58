/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_util.c */
#include "setting.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <collet/collet.h>

#include "text.h"

#define SEPARATORS " \t,"
#define DIGITS_MAX 21 /* bytes of a 64-bit number in decimal, with its NUL */

/* 1 if a list, separated by blanks, has the word. */
static int has_word(const char *list, const char *word, size_t length)
{
    while (*list) {
        size_t n = strcspn(list, " ");
        if (n == length && n && !memcmp(list, word, n))
            return 1;
        list += n + (list[n] == ' ');
    }
    return 0;
}

static int is_one_of(const char *list, const char *word)
{
    return has_word(list, word, strlen(word));
}

/* A reader returns 1 if the type accepts the word, and writes the value, at most strlen(word) +
 * DIGITS_MAX bytes. */
typedef int (*reader)(const setting *s, const char *word, char *value);

static int read_boolean(const setting *s, const char *word, char *value)
{
    (void)s;
    int on = is_one_of("on yes true 1", word);
    strcpy(value, on ? "on" : "off");
    return on || is_one_of("off no false 0", word);
}

static int read_number(const char *word, const char *units, uint64_t most, char *value)
{
    uint64_t number = 0;
    const char *at = word;
    for (; isdigit((unsigned char)*at); at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (number > (most - digit) / 10)
            return 0;
        number = 10 * number + digit;
    }
    const char *unit = at > word && *at ? strchr(units, *at) : NULL;
    for (const char *u = units; unit && u <= unit; u++) {
        if (number > most / 1024)
            return 0;
        number *= 1024;
    }
    snprintf(value, DIGITS_MAX, "%" PRIu64, number);
    return at > word && !at[unit != NULL];
}

static int read_integer(const setting *s, const char *word, char *value)
{
    (void)s;
    return read_number(word, "", INT32_MAX, value);
}

static int read_size(const setting *s, const char *word, char *value)
{
    (void)s;
    return read_number(word, "KMG", INT64_MAX, value);
}

static int read_text(const setting *s, const char *word, char *value)
{
    (void)s;
    strcpy(value, word);
    return 1;
}

static int read_choice(const setting *s, const char *word, char *value)
{
    strcpy(value, word);
    return is_one_of(s->values, word);
}

static int read_words(const setting *s, const char *word, char *value)
{
    char *end = value;
    for (word += strspn(word, SEPARATORS); *word; word += strspn(word, SEPARATORS)) {
        size_t length = strcspn(word, SEPARATORS);
        if (!has_word(s->values, word, length))
            return 0;
        if (end > value)
            *end++ = ' ';
        memcpy(end, word, length);
        end += length;
        word += length;
    }
    *end = '\0';
    return end > value;
}

static int read_none(const setting *s, const char *word, char *value)
{
    (void)s;
    (void)word;
    *value = '\0';
    return 0;
}

static const struct type {
    const char *name;
    reader read;
    const char *form; /* for messages, in which the setting's `values` follow */
} types[] = {
    {"boolean", read_boolean, "on or off"},
    {"integer", read_integer, "a whole number from 0 to 2147483647"},
    {"size", read_size, "a number of bytes (also 64K, 16M, 2G)"},
    {"string", read_text, ""},
    {"path", read_text, ""},
    {"path list", read_text, ""},
    {"list", read_text, ""},
    {"choice", read_choice, ""},
    {"words", read_words, "words of"},
    {"probe", read_none, "left unset, because the backend's probe determines it"},
};

static const struct type *find_type(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    return NULL;
}

int setting_type_valid(const setting *s)
{
    const struct type *type = find_type(s->type);
    return type && (*s->values || (type->read != read_choice && type->read != read_words));
}

/* "a whole number from 0 to 2147483647 or auto"; "error, warning or off". */
static void add_forms(text_buffer *t, const char *form, const char *values)
{
    int words = !strcmp(form, "words of");
    text_add(t, "%s%s", form, words ? " " : "");
    for (int first = words || !*form; *values; first = 0) {
        size_t n = strcspn(values, " ");
        text_add(t, "%s%.*s", first ? "" : values[n] ? ", " : " or ", (int)n, values);
        values += n + (values[n] == ' ');
    }
}

collet_status setting_parse(const setting *s, const char *word, const char *where, char **value,
                            collet_error *err)
{
    const struct type *type = find_type(s->type);
    text_buffer forms;
    *value = malloc(strlen(word) + DIGITS_MAX + 1);
    if (!*value)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for the setting %s", s->key);
    if (type->read(s, word, *value))
        return COLLET_OK;
    if (strcmp(s->type, "words") != 0 && is_one_of(s->values, word)) {
        strcpy(*value, word);
        return COLLET_OK;
    }
    free(*value);
    *value = NULL;
    text_clear(&forms);
    add_forms(&forms, type->form, s->values);
    int unit = type->read == read_integer && *s->help;
    return collet_fail(err, COLLET_INVALID, "%s: %s must be %s, not '%s'%s%s%s", where, s->key,
                       forms.bytes, word, unit ? " (" : "", unit ? s->help : "", unit ? ")" : "");
}
