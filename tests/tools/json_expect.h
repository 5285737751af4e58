/* SPDX-License-Identifier: Apache-2.0 */
/* Access to the JSON that a tool printed; a missing member fails the test. */
#ifndef TESTS_TOOLS_JSON_EXPECT_H
#define TESTS_TOOLS_JSON_EXPECT_H

#include "tool_run.h"

/* The output of a run that ended with `status`, parsed. The caller calls cJSON_Delete. */
static inline cJSON *parsed(tool_result *result, int status)
{
    tool_expect(result, status);
    cJSON *root = cJSON_Parse(result->out);
    if (!root)
        fail_msg("not JSON:\n%s", result->out);
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
        fail_msg("'%s' is not a number", key);
    return member(object, key)->valuedouble;
}

#endif
