/* SPDX-License-Identifier: Apache-2.0 */
/* Values of settings: which texts each type accepts, in which form code gets them, and the
 * errors. */
#include <stdlib.h>
#include <string.h>

#include "common/test.h"
#include "util/setting.h"

static const struct {
    const char *type, *values, *word;
    const char *value; /* NULL: refused */
    const char *text;  /* part of the error */
} cases[] = {
    {"boolean", "", "yes", "on", NULL},
    {"boolean", "", "1", "on", NULL},
    {"boolean", "", "false", "off", NULL},
    {"boolean", "", "of", NULL, "here: a.b must be on or off, not 'of'"},
    {"boolean", "", "", NULL, "a.b must be on or off, not ''"},
    {"boolean", "auto", "auto", "auto", NULL},
    {"boolean", "auto", "maybe", NULL, "a.b must be on or off or auto, not 'maybe'"},
    {"integer", "", "007", "7", NULL},
    {"integer", "", "2147483647", "2147483647", NULL},
    {"integer", "", "2147483648", NULL,
     "a.b must be a whole number from 0 to 2147483647, not '2147483648' (help)"},
    {"integer", "", "-1", NULL, "a whole number"},
    {"integer", "", "1K", NULL, "a whole number"},
    {"integer", "", "", NULL, "a whole number"},
    {"size", "", "65536", "65536", NULL},
    {"size", "", "1K", "1024", NULL},
    {"size", "", "16M", "16777216", NULL},
    {"size", "", "2G", "2147483648", NULL},
    {"size", "", "8589934591G", "9223372035781033984", NULL},
    {"size", "", "8589934592G", NULL, "bytes"},
    {"size", "", "9223372036854775808", NULL, "bytes"},
    {"size", "", "1k", NULL, "a number of bytes (also 64K, 16M, 2G), not '1k'"},
    {"size", "", "1GB", NULL, "bytes"},
    {"size", "", "1.5G", NULL, "bytes"},
    {"size", "", "G", NULL, "bytes"},
    {"size", "off", "off", "off", NULL},
    {"size", "off", "on", NULL, "2G) or off, not 'on'"},
    {"string", "", "any thing", "any thing", NULL},
    {"path", "off", "/a/path", "/a/path", NULL},
    {"choice", "red green blue", "green", "green", NULL},
    {"choice", "red green blue", "gree", NULL, "a.b must be red, green or blue, not 'gree'"},
    {"choice", "red green blue", "red green", NULL, "not 'red green'"},
    {"words", "f32 bf16 i8", "i8", "i8", NULL},
    {"words", "f32 bf16 i8", " i8 ,f32,\tbf16, ", "i8 f32 bf16", NULL},
    {"words", "f32 bf16 i8", "f32 bf", NULL, "a.b must be words of f32, bf16 or i8, not 'f32 bf'"},
    {"words", "f32 bf16 i8", ",", NULL, "words of"},
    {"probe", "", "x", NULL,
     "a.b must be left unset, because the backend's probe determines it, not 'x'"},
};

TEST(values)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setting s = {"a.b", "", cases[i].type, cases[i].values, "", "help"};
        collet_error err = {COLLET_OK, ""};
        char *value = NULL;
        collet_status status = setting_parse(&s, cases[i].word, "here", &value, &err);
        if (status != (cases[i].value ? COLLET_OK : COLLET_INVALID) ||
            (cases[i].value ? strcmp(value, cases[i].value) : !strstr(err.text, cases[i].text)))
            fail_msg("%s '%s': status %d, '%s', '%s'", s.type, cases[i].word, status,
                     value ? value : "", err.text);
        free(value);
    }
}

TEST(types)
{
    assert_true(setting_type_valid(&(setting){.type = "size", .values = ""}));
    assert_true(setting_type_valid(&(setting){.type = "words", .values = "a"}));
    assert_false(setting_type_valid(&(setting){.type = "words", .values = ""}));
    assert_false(setting_type_valid(&(setting){.type = "choice", .values = ""}));
    assert_false(setting_type_valid(&(setting){.type = "number", .values = ""}));
}
