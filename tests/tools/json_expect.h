/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON that a tool printed: what is looked for and is not there fails the test. */
#ifndef TESTS_TOOLS_JSON_EXPECT_H
#define TESTS_TOOLS_JSON_EXPECT_H

#include <cjson/cJSON.h>

#include "tool_run.h"

/* What a run that ended with `status` printed; frees the result. cJSON_Delete the answer. */
static inline cJSON *parsed(tool_result *result, int status)
{
    tool_expect(result, status);
    cJSON *root = cJSON_Parse(result->out);
    if (!root)
        fail_msg("no JSON:\n%s", result->out);
    tool_free(result);
    return root;
}

static inline const cJSON *member(const cJSON *object, const char *key)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, key);
    if (!found)
        fail_msg("no member '%s'", key);
    return found;
}

static inline const char *text_of(const cJSON *object, const char *key)
{
    const char *text = cJSON_GetStringValue(member(object, key));
    assert_non_null(text);
    return text;
}

static inline double number_of(const cJSON *object, const char *key)
{
    if (!cJSON_IsNumber(member(object, key)))
        fail_msg("'%s' is no number", key);
    return member(object, key)->valuedouble;
}

#endif
