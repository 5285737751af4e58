/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that build JSON reports with cJSON. Each returns 1, or 0 when out of memory, so that a report is one
 * expression of calls joined by &&. */
#pragma once

#include <cjson/cJSON.h>
#include <stdint.h>

static inline int32_t json_add_text(cJSON *object, const char *key, const char *value)
{
    return cJSON_AddStringToObject(object, key, value) != NULL;
}

/* Numbers that are not finite become null. */
static inline int32_t json_add_number(cJSON *object, const char *key, double value)
{
    return cJSON_AddNumberToObject(object, key, value) != NULL;
}

static inline int32_t json_add_null(cJSON *object, const char *key)
{
    return cJSON_AddNullToObject(object, key) != NULL;
}

static inline int32_t json_add_bool(cJSON *object, const char *key, int32_t value)
{
    return cJSON_AddBoolToObject(object, key, value) != NULL;
}

/* Adds `item`, which then belongs to the object; if this fails, deletes it. Fails if `item` is NULL (out of memory). */
static inline int32_t json_add_item(cJSON *object, const char *key, cJSON *item)
{
    if (item && cJSON_AddItemToObject(object, key, item))
        return 1;
    cJSON_Delete(item);
    return 0;
}

/* Appends a new object to the list and returns it; NULL when out of memory. */
static inline cJSON *json_append_object(cJSON *list)
{
    cJSON *object = cJSON_CreateObject();
    if (object && cJSON_AddItemToArray(list, object))
        return object;
    cJSON_Delete(object);
    return NULL;
}
