/* SPDX-License-Identifier: Apache-2.0 */
/* The extensions of a device: used where it has them, and done without where it has none or where
 * its table cannot be used. */
#include "common/support.h"

#include <stdlib.h>

static char logged[COLLET_ERROR_TEXT];

static void keep_error(void *user, int32_t level, const char *text)
{
    (void)user;
    if (level == COLLET_LOG_ERROR)
        snprintf(logged, sizeof logged, "%s", text);
}

/* The test backend, with the table of one extension spoiled. */
static world open_spoiled(const char *name, const char *fault)
{
    char setting[96];
    const char *settings[] = {setting, NULL};
    collet_error err = {COLLET_OK, ""};
    world w = {NULL, NULL};
    snprintf(setting, sizeof setting, "remote.extension=%s %s", name, fault);
    logged[0] = '\0';
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = REMOTE_PLUGIN,
                                      .backend = "remote",
                                      .settings = settings,
                                      .log = keep_error};
    if (collet_runtime_create(&w.rt, &options, &err) != COLLET_OK)
        fail_msg("%s", err.text);
    w.cx = context_of(w.rt);
    return w;
}

static collet_memory_stats memory_of(collet_context *cx, const char *space)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, space, &stats));
    return stats;
}

/* Bytes that the device keeps for later calls after a trim. */
static uint64_t kept_after_trim(collet_context *cx)
{
    collet_array *a = floats(cx, 16, 0), *b = empty_floats(cx, 16);
    assert_ok(cx, collet_add(cx, b, a, a));
    collet_array_free(a);
    collet_array_free(b);
    assert_ok(cx, collet_finish(cx));
    assert_ok(cx, collet_trim(cx));
    return memory_of(cx, "remote:0").reserved;
}

static const char *const faults[] = {"short", "reserved", "null"};
static const char *const reasons[] = {"bytes, not", "reserved member", "a function that is NULL"};

static void trim(void **state)
{
    (void)state;
    world w = open_spoiled("none", "absent");
    assert_int_equal(kept_after_trim(w.cx), 0);
    assert_string_equal(logged, "");
    close_world(w);
    w = open_spoiled("collet.trim/1", "absent");
    assert_int_equal(kept_after_trim(w.cx), 128);
    assert_string_equal(logged, "");
    close_world(w);
}

/* As if it were absent, and an error in the log. */
static void spoiled_tables(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        world w = open_spoiled("collet.trim/1", faults[i]);
        assert_int_equal(kept_after_trim(w.cx), 128);
        if (!strstr(logged, "remote:0: the table of collet.trim/1 has ") ||
            !strstr(logged, reasons[i]))
            fail_msg("%s: '%s'", faults[i], logged);
        close_world(w);
    }
}

#define TEST(name) cmocka_unit_test(name)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(trim), TEST(spoiled_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
