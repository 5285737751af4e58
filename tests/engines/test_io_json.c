/* SPDX-License-Identifier: Apache-2.0 */
/* JSON from files: texts that are not JSON, and fields that have a wrong type or are out of
 * range. */

#include "common/test.h"
#include "io/json/json.h"

static const io_json_field text = {.type = IO_JSON_TEXT};
static const io_json_field inner[] = {{.name = "on", .type = IO_JSON_BOOLEAN}};
static const io_json_field item = {.type = IO_JSON_OBJECT, .fields = IO_JSON_ROWS(inner)};
static const io_json_field table[] = {
    {.name = "name", .type = IO_JSON_TEXT, .flags = IO_JSON_NULLABLE},
    {.name = "count", .type = IO_JSON_WHOLE, .low = 0, .high = 9007199254740992.0},
    {.name = "share", .type = IO_JSON_NUMBER, .flags = IO_JSON_OPTIONAL, .low = -1, .high = 1},
    {.name = "names", .type = IO_JSON_LIST, .low = 1, .high = 2, .fields = &text},
    {.name = "items", .type = IO_JSON_LIST, .high = 9, .fields = &item}};

static collet_status read_text(const char *json, collet_error *err)
{
    cJSON *tree = NULL;
    collet_status status = io_json_parse("a.json", json, strlen(json), &tree, err);

    if (status == COLLET_OK)
        status = io_json_check("a.json", "", tree, IO_JSON_ROWS(table), err);
    cJSON_Delete(tree);
    return status;
}

TEST(right_fields_pass)
{
    static const char *const texts[] = {
        "{\"name\": null, \"count\": 0, \"names\": [\"a\"], \"items\": []}",
        " {\"name\": \"x\", \"count\": 9007199254740992, \"share\": -1, \"names\": [\"a\", \"b\"], "
        "\"items\": [{\"on\": true}], \"other\": [1]}\n"};
    collet_error err;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (read_text(texts[i], &err) != COLLET_OK)
            fail_msg("%s: %s", texts[i], err.text);
}

TEST(texts_that_are_not_JSON)
{
    static const struct {
        const char *text, *said;
    } texts[] = {{"", "a.json: it is not JSON"},
                 {"{", "a.json: it is not JSON"},
                 {"{\"count\": 1} {", "a.json: it is not JSON from byte 13 on"},
                 {"{\"count\": 1, \"count\": 2}", "a.json: the key count is repeated"},
                 {"{\"a\": [{\"b\": 1, \"b\": 1}]}", "a.json: the key b is repeated"},
                 {"[1]", "a.json: it is not a JSON object"}};
    collet_error err;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_error(read_text(texts[i].text, &err), COLLET_FORMAT, err, texts[i].said);
    }
}

/* Each text has exactly one wrong field, which the error names. */
TEST(wrong_fields_are_named)
{
    static const struct {
        const char *name, *count, *names, *items, *said;
    } texts[] = {
        {"1", "0", "[\"\"]", "[]", "name is 1; it must be a text or null"},
        {"\"\"", "-1", "[\"\"]", "[]",
         "count is -1; it must be a whole number from 0 to 9007199254740992"},
        {"\"\"", "1.5", "[\"\"]", "[]", "count is 1.5; it must be a whole number"},
        {"\"\"", "1e300", "[\"\"]", "[]", "count is 1e+300; it must be a whole number"},
        {"\"\"", "1e999", "[\"\"]", "[]", "count is "},
        {"\"\"", "null", "[\"\"]", "[]", "count is null; it must be a whole number"},
        {"\"\"", "\"3\"", "[\"\"]", "[]", "count is \"3\"; it must be a whole number"},
        {"\"\"", "0, \"share\": 1.25", "[\"\"]", "[]",
         "share is 1.25; it must be a number from -1 to 1"},
        {"\"\"", "0", "[]", "[]", "names is []; it must be a list of 1 to 2 elements"},
        {"\"\"", "0", "{}", "[]", "names is {}; it must be a list of 1 to 2 elements"},
        {"\"\"", "0", "[\"\", 7]", "[]", "names[1] is 7; it must be a text"},
        {"\"\"", "0", "[\"\"]", "[{\"on\": true}, 1]", "items[1] is 1; it must be an object"},
        {"\"\"", "0", "[\"\"]", "[{\"on\": true}, {}]",
         "items[1].on is missing; it must be true or false"},
        {"\"\"", "0", "[\"\"]", "[{\"on\": 1}]", "items[0].on is 1; it must be true or false"}};
    collet_error err;
    char json[300];

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        snprintf(json, sizeof json, "{\"name\": %s, \"count\": %s, \"names\": %s, \"items\": %s}",
                 texts[i].name, texts[i].count, texts[i].names, texts[i].items);
        if (read_text(json, &err) != COLLET_FORMAT)
            fail_msg("accepted: %s", json);
        assert_contains(err.text, texts[i].said);
    }
}
