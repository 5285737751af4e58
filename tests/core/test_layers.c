/* SPDX-License-Identifier: Apache-2.0 */
/* Layers between libcore and the backends: how they are chosen, and what happens to invalid
 * layers. */

#include "common/support.h"

#define PATH COLLET_TEST_LAYERS ":" SCALAR_PLUGIN ":" REMOTE_PLUGIN

static char said[4096];

static void keep(void *user, int32_t level, const char *text)
{
    size_t length = strlen(said);
    snprintf(said + length, sizeof said - length, "%s\n", text);
}

static collet_status create(collet_runtime **rt, const char *layers, const char *more,
                            collet_error *err)
{
    const char *const settings[] = {layers, "log=info", more, NULL};
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = PATH, .log = keep, .settings = settings};
    said[0] = '\0';
    return collet_runtime_create(rt, &options, err);
}

static world world_with(const char *layers, const char *more)
{
    world w = {.rt = NULL};
    collet_error err = {COLLET_OK, ""};
    assert_success(create(&w.rt, layers, more, &err), err);
    w.cx = context_of(w.rt);
    return w;
}

static void assert_adds(collet_context *cx, collet_status expected)
{
    OWNED(collet_array) *a = floats(cx, 4, 1.0f), *out = empty_floats(cx, 4);
    assert_status(cx, collet_op_add(cx, out, a, a), expected);
    if (expected == COLLET_OK)
        assert_floats(cx, out, (const float[]){2.0f, 4.0f, 6.0f, 8.0f});
}

/* The code of the last record of stage `open` for a file whose path ends in `file`; NULL: none. */
static const char *open_code(const collet_runtime *rt, const char *file)
{
    const char *code = NULL;
    for (size_t i = 0; i < collet_record_count(rt); i++) {
        collet_plugin_record r = {.struct_size = sizeof r};
        if (collet_record_at(rt, &r, i, NULL) == COLLET_OK && !strcmp(r.stage, "open") &&
            strlen(r.path) >= strlen(file) && !strcmp(r.path + strlen(r.path) - strlen(file), file))
            code = r.code;
    }
    return code;
}

/* ---- Choice ------------------------------------------------------------------------------ */

TEST(only_named_ones_are_opened)
{
    OWNED(world) w = world_with("layers=", NULL);
    assert_adds(w.cx, COLLET_OK);
    assert_null(strstr(said, " over "));
    assert_null(open_code(w.rt, "/outer.so"));
}

/* A denied layer is refused before its manifest is read, so it is not listed as a backend. */
TEST(a_refused_one_is_no_backend)
{
    OWNED(world) w = world_with("layers=", "plugin_deny=outer");
    for (size_t i = 0; i < collet_backend_count(w.rt); i++) {
        collet_backend_info info = {.struct_size = sizeof info};
        assert_int_equal(collet_backend_info_at(w.rt, &info, i, NULL), COLLET_OK);
        assert_string_not_equal(info.name, "outer");
    }
    assert_contains(said, "outer.so: policy: denied");
}

TEST(the_first_is_the_outermost)
{
    OWNED(world) w = world_with("layers=outer, inner", NULL);
    assert_adds(w.cx, COLLET_OK);
    assert_contains(said, "inner over cpu_scalar\nouter over cpu_scalar\n");
    assert_string_equal(open_code(w.rt, "/outer.so"), "ok");
    assert_string_equal(open_code(w.rt, "/inner.so"), "ok");
}

/* Two layers over two backends. A layer has one set of functions for all backends; they find the
 * backend's table by the device. */
TEST(devices_tell_their_table)
{
    OWNED(world) w = world_with("layers=outer,inner", NULL);
    assert_ok(w.cx, collet_set_backend(w.cx, "remote:0"));
    assert_adds(w.cx, COLLET_OK);
    assert_ok(w.cx, collet_set_backend(w.cx, "cpu_scalar"));
    assert_adds(w.cx, COLLET_OK);
    assert_contains(said, "outer opens remote\ninner opens remote\n",
                    "outer opens cpu_scalar\ninner opens cpu_scalar\n");
}

/* A layer may lack a slot. Then only devices that need this slot cannot be opened. */
TEST(a_slot_may_be_missing)
{
    OWNED(world) w = world_with("layers=lacks", NULL);
    assert_adds(w.cx, COLLET_OK);
    assert_status(w.cx, collet_set_backend(w.cx, "remote:0"), COLLET_UNAVAILABLE,
                  "the slot queue_mark is NULL; a device with COLLET_ORDER_QUEUES needs it");
}

TEST(one_may_be_named_twice)
{
    OWNED(world) w = world_with("layers=outer,inner,outer", NULL);
    assert_adds(w.cx, COLLET_OK);
    assert_contains(said, "outer over cpu_scalar\ninner over cpu_scalar\nouter over");
}

TEST(a_layer_is_no_backend)
{
    OWNED(world) w = world_with("layers=outer", NULL);
    assert_int_equal(collet_backend_count(w.rt), 2);
    assert_status(w.cx, collet_set_backend(w.cx, "outer"), COLLET_UNKNOWN_BACKEND);
}

TEST(its_table_is_used)
{
    OWNED(world) w = world_with("layers=outer,inner", "inner.hides=yes");
    assert_ok(w.cx, collet_set_backend(w.cx, "cpu_scalar"));
    assert_adds(w.cx, COLLET_UNSUPPORTED);
    close_world(w);
    w = world_with("layers=outer", "inner.hides=yes");
    assert_adds(w.cx, COLLET_OK);
}

/* ---- Errors ------------------------------------------------------------------------------ */

static void assert_not_created(const char *layers, collet_status status, const char *text)
{
    collet_runtime *rt = NULL;
    collet_error err = {COLLET_OK, ""};
    assert_int_equal(create(&rt, layers, NULL, &err), status);
    assert_contains(err.text, text);
}

TEST(unknown_names_are_errors)
{
    assert_not_created(
        "layers=inner,uoter", COLLET_INVALID,
        "(program) names 'uoter', but no such layer was found; the nearest is outer; "
        "found: programs, drops, inner, lacks, outer, refuses, renames, shortens, swaps, "
        "upward, wants");
    assert_not_created("layers=cpu_scalar", COLLET_INVALID, "'cpu_scalar'");
}

static void assert_unusable(const char *layers, const char *text)
{
    OWNED(world) w = world_with(layers, NULL);
    assert_status(w.cx, collet_set_backend(w.cx, "cpu_scalar"), COLLET_UNAVAILABLE, text);
}

TEST(a_backend_is_not_used_without_its_layer)
{
    assert_unusable("layers=refuses", "returned NULL: it is not a friend of cpu_scalar");
    assert_unusable("layers=outer,renames", "the table's name is 'another'");
    assert_unusable("layers=shortens",
                    "the table has 64 bytes; the first version of the interface has ");
    assert_unusable("layers=swaps", "its row 0 differs from the table below");
    assert_unusable("layers=upward", "in collet_layer_entry");
    assert_unusable("layers=wants", "layer_nowhere");
    assert_unusable("layers=drops", "own ops, but the table below ");
}

TEST(denied_ones_are_refused)
{
    collet_runtime *rt = NULL;
    collet_error err = {COLLET_OK, ""};
    assert_error(create(&rt, "layers=outer", "plugin_deny=outer", &err), COLLET_UNAVAILABLE, err,
                 "switched off");
}
