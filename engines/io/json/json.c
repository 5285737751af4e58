/* SPDX-License-Identifier: Apache-2.0 */
/* Tests: tests/engines/test_io_json.c, tests/tools/test_shards.c */
#include "json.h"

#include "io/numerals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLACE 160 /* bytes of "work.continuations[3]" */

/* ---- Parsing ----------------------------------------------------------------------------- */

/* Returns the first key that an object repeats, or NULL. Compares all pairs of keys, because objects have few
 * keys. */
static const char *repeated_key(const cJSON *item)
{
    const char *below = NULL;

    for (const cJSON *child = item->child; child && !below; child = child->next) {
        for (const cJSON *other = item->child; cJSON_IsObject(item) && other != child;
             other = other->next)
            if (strcmp(other->string, child->string) == 0)
                return child->string;
        below = repeated_key(child);
    }
    return below;
}

collet_status io_json_parse(const char *source, const char *text, size_t length, cJSON **out,
                            collet_error *err)
{
    const char *end = NULL, *key;

    locale_t before = io_numerals_begin();
    *out = length ? cJSON_ParseWithLengthOpts(text, length, &end, 0) : NULL;
    io_numerals_end(before);
    while (*out && end < text + length && *end && strchr(" \t\r\n", *end))
        end++;
    if (!*out || end < text + length)
        collet_fail(err, COLLET_FORMAT, "%s: it is not JSON from byte %td on", source,
                    end ? end - text : 0);
    else if ((key = repeated_key(*out)) != NULL)
        collet_fail(err, COLLET_FORMAT, "%s: the key %.80s is repeated", source, key);
    else
        return COLLET_OK;
    cJSON_Delete(*out);
    *out = NULL;
    return COLLET_FORMAT;
}

/* ---- Checking ---------------------------------------------------------------------------- */

static void describe(const io_json_field *field, char text[PLACE])
{
    static const char *const names[] = {"a text",   "true or false", "a whole number",
                                        "a number", "an object",     "a list"};
    locale_t before = io_numerals_begin();
    int n = snprintf(text, PLACE, "%s", names[field->type]);

    if (field->type == IO_JSON_LIST)
        n += snprintf(text + n, PLACE - (size_t)n,
                      field->low == field->high ? " of %.0f elements" : " of %.0f to %.0f elements",
                      field->low, field->high);
    else if (field->type == IO_JSON_WHOLE || field->type == IO_JSON_NUMBER)
        n += snprintf(text + n, PLACE - (size_t)n,
                      field->type == IO_JSON_WHOLE ? " from %.0f to %.0f" : " from %g to %g",
                      field->low, field->high);
    if (field->flags & IO_JSON_NULLABLE)
        snprintf(text + n, PLACE - (size_t)n, " or null");
    io_numerals_end(before);
}

static collet_status refuse(const char *source, const char *place, const io_json_field *field,
                            const cJSON *item, collet_error *err)
{
    char expected[PLACE];
    locale_t before = io_numerals_begin();
    char *found = item ? cJSON_PrintUnformatted(item) : NULL;

    io_numerals_end(before);
    describe(field, expected);
    collet_status status = item
                               ? collet_fail(err, COLLET_FORMAT, "%s: %s is %.60s%s; it must be %s",
                                             source, place, found ? found : "another value",
                                             found && strlen(found) > 60 ? " ..." : "", expected)
                               : collet_fail(err, COLLET_FORMAT, "%s: %s is missing; it must be %s",
                                             source, place, expected);
    io_numerals_end(before);
    cJSON_free(found);
    return status;
}

static int fits(const io_json_field *field, const cJSON *item)
{
    double value = cJSON_IsArray(item) ? (double)cJSON_GetArraySize(item) : item->valuedouble;

    switch (field->type) {
    case IO_JSON_TEXT:
        return cJSON_IsString(item);
    case IO_JSON_BOOLEAN:
        return cJSON_IsBool(item);
    case IO_JSON_OBJECT:
        return cJSON_IsObject(item);
    case IO_JSON_LIST:
        return cJSON_IsArray(item) && value >= field->low && value <= field->high;
    default:
        return cJSON_IsNumber(item) && value >= field->low && value <= field->high &&
               (field->type == IO_JSON_NUMBER || value == floor(value));
    }
}

static collet_status check(const char *source, const char *place, const cJSON *item,
                           const io_json_field *field, collet_error *err)
{
    char below[PLACE];
    const cJSON *element;
    int64_t i = 0;
    collet_status status = COLLET_OK;

    if (item ? cJSON_IsNull(item) && field->flags & IO_JSON_NULLABLE
             : (field->flags & IO_JSON_OPTIONAL) != 0)
        return COLLET_OK;
    if (!item || !fits(field, item))
        return refuse(source, place, field, item, err);
    if (field->type == IO_JSON_OBJECT && field->fields) {
        snprintf(below, sizeof below, "%s.", place);
        return io_json_check(source, below, item, field->fields, field->n_fields, err);
    }
    for (element = field->type == IO_JSON_LIST && field->fields ? item->child : NULL;
         element && status == COLLET_OK; element = element->next) {
        snprintf(below, sizeof below, "%s[%lld]", place, (long long)i++);
        status = check(source, below, element, field->fields, err);
    }
    return status;
}

collet_status io_json_check(const char *source, const char *place, const cJSON *object,
                            const io_json_field *fields, int64_t n_fields, collet_error *err)
{
    collet_status status = COLLET_OK;
    char name[PLACE];

    if (!cJSON_IsObject(object))
        return collet_fail(err, COLLET_FORMAT, "%s: %.*s is not a JSON object", source,
                           *place ? (int)strlen(place) - 1 : 2, *place ? place : "it");
    for (int64_t i = 0; status == COLLET_OK && i < n_fields; i++) {
        snprintf(name, sizeof name, "%.80s%.60s", place, fields[i].name);
        status = check(source, name, cJSON_GetObjectItemCaseSensitive(object, fields[i].name),
                       &fields[i], err);
    }
    return status;
}

/* ---- Reading ----------------------------------------------------------------------------- */

double io_json_number(const cJSON *object, const char *key)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

int64_t io_json_whole(const cJSON *object, const char *key)
{
    return (int64_t)io_json_number(object, key);
}

const char *io_json_text(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));
}
