/* SPDX-License-Identifier: Apache-2.0 */
/* json - strict parsing of untrusted text with cJSON. */
#pragma once

#include <cjson/cJSON.h>

#include <collet/types.h>

#define JSON_MAX_DEPTH 16
#define JSON_MAX_MEMBERS 512 /* members of one object */

/* The reason why a text was refused. */
typedef enum json_problem {
    JSON_FINE,
    JSON_SYNTAX,
    JSON_TRAILING,
    JSON_DUPLICATE_KEY,
} json_problem;

/* Parses length bytes (no NUL needed). Refuses malformed JSON, and also text after the value,
 * duplicate keys in an object, a byte order mark, control characters, invalid UTF-8 and \u0000 in
 * strings, more than JSON_MAX_DEPTH levels or JSON_MAX_MEMBERS members. *tree belongs to the caller
 * (cJSON_Delete); *problem may be NULL. FORMAT, with text; NO_MEMORY. */
collet_status json_parse(const char *text, size_t length, cJSON **tree, json_problem *problem,
                         collet_error *err);

/* cJSON_Parse and cJSON_PrintUnformatted, for texts that were checked before or that libcore
 * made. */
cJSON *json_read(const char *text);
char *json_print(const cJSON *tree);

/* The member with that name and type, or NULL. Strings belong to the tree. */
const char *json_string(const cJSON *object, const char *key);
/* Sets *value and returns 1 if the member is an integer from `low` to `high`. */
int json_integer(const cJSON *object, const char *key, int64_t low, int64_t high, int64_t *value);
/* Sets *value to 0 or 1 and returns 1 if the member is a boolean. */
int json_boolean(const cJSON *object, const char *key, int32_t *value);

/* Sets *value and returns 1 if the item is an integer from `low` to `high` (both within 2^53). */
int json_is_integer(const cJSON *item, int64_t low, int64_t high, int64_t *value);
