/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/core/test_util.c */
#include "json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include <collet/collet.h>

#include "numerals.h"
#include "text.h"

static collet_status refuse(json_problem *out, json_problem problem, collet_error *err,
                            const char *what, size_t offset)
{
    if (out)
        *out = problem;
    return collet_fail(err, COLLET_FORMAT, "%s at byte %zu of the JSON", what, offset);
}

/* \u with fewer than four hexadecimal digits, or \u0000: cJSON ends the string there. */
static int is_bad_escape(const char *text, size_t length)
{
    size_t digits = 0;
    if (length < 2 || text[1] != 'u')
        return 0;
    while (digits < 4 && digits + 2 < length && isxdigit((unsigned char)text[digits + 2]))
        digits++;
    return digits < 4 || !memcmp(text + 2, "0000", 4);
}

/* Rejects texts that cJSON accepts: too many levels, a byte order mark, raw control characters,
 * \u0000, and \u without four digits. */
static const char *scan(const char *text, size_t length, size_t *offset)
{
    int in_string = 0, depth = 0;
    for (size_t i = 0, bytes; i < length; i += bytes) {
        unsigned char c = (unsigned char)text[i];
        size_t character = in_string ? text_character(text + i, length - i) : 1;
        *offset = i;
        bytes = character;
        if (in_string) {
            if (!character)
                return "a control character or invalid UTF-8 in a string";
            if (c == '\\' && is_bad_escape(text + i, length - i))
                return "\\u0000 or an incomplete \\u in a string";
            if (c == '\\')
                bytes++;
            else if (c == '"')
                in_string = 0;
        } else if (c == '"') {
            in_string = 1;
        } else if (c == '{' || c == '[') {
            if (++depth > JSON_MAX_DEPTH)
                return "too many levels";
        } else if (c == '}' || c == ']') {
            depth--;
        } else if (c >= 0x7f || (c < 0x20 && !strchr("\t\n\r", c)) || c == 0) {
            return "an invalid character outside of strings";
        }
    }
    return NULL;
}

/* Finds the first duplicate key, or the first key beyond JSON_MAX_MEMBERS. */
static const char *repeated_key(const cJSON *item)
{
    int members = 0;
    for (const cJSON *child = item->child; child; child = child->next) {
        if (cJSON_IsObject(item)) {
            if (++members > JSON_MAX_MEMBERS)
                return child->string;
            for (const cJSON *other = item->child; other != child; other = other->next)
                if (!strcmp(other->string, child->string))
                    return child->string;
        }
        const char *below = repeated_key(child);
        if (below)
            return below;
    }
    return NULL;
}

collet_status json_parse(const char *text, size_t length, cJSON **tree, json_problem *problem,
                         collet_error *err)
{
    size_t offset = 0;
    const char *end = NULL;
    if (problem)
        *problem = JSON_FINE;
    const char *wrong = scan(text, length, &offset);
    if (wrong)
        return refuse(problem, JSON_SYNTAX, err, wrong, offset);
    errno = 0; /* cJSON reports a failed malloc as a syntax error */
    locale_t before = numerals_begin();
    cJSON *root = length ? cJSON_ParseWithLengthOpts(text, length, &end, 0) : NULL;
    numerals_end(before);
    if (!root && errno == ENOMEM)
        return collet_fail(err, COLLET_NO_MEMORY, "out of memory for a JSON text");
    if (!root)
        return refuse(problem, JSON_SYNTAX, err, "a syntax error", end ? (size_t)(end - text) : 0);
    offset = (size_t)(end - text);
    while (offset < length && strchr(" \t\n\r", text[offset]))
        offset++;
    if (offset < length) {
        cJSON_Delete(root);
        return refuse(problem, JSON_TRAILING, err, "text follows the value", offset);
    }
    const char *key = repeated_key(root);
    if (key) {
        if (problem)
            *problem = JSON_DUPLICATE_KEY;
        collet_fail(err, COLLET_FORMAT, "the key '%.64s' is a duplicate or one of too many", key);
        cJSON_Delete(root);
        return COLLET_FORMAT;
    }
    *tree = root;
    return COLLET_OK;
}

cJSON *json_read(const char *text)
{
    locale_t before = numerals_begin();
    cJSON *tree = cJSON_Parse(text);
    numerals_end(before);
    return tree;
}

char *json_print(const cJSON *tree)
{
    locale_t before = numerals_begin();
    char *text = cJSON_PrintUnformatted(tree);
    numerals_end(before);
    return text;
}

const char *json_string(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : NULL;
}

int json_is_integer(const cJSON *item, int64_t low, int64_t high, int64_t *value)
{
    if (!cJSON_IsNumber(item))
        return 0;
    double number = item->valuedouble;
    if (!(number >= (double)low && number <= (double)high) || number != floor(number))
        return 0;
    *value = (int64_t)number;
    return 1;
}

int json_integer(const cJSON *object, const char *key, int64_t low, int64_t high, int64_t *value)
{
    return json_is_integer(cJSON_GetObjectItemCaseSensitive(object, key), low, high, value);
}

int json_boolean(const cJSON *object, const char *key, int32_t *value)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!cJSON_IsBool(item))
        return 0;
    *value = cJSON_IsTrue(item) ? 1 : 0;
    return 1;
}
