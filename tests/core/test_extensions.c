/* SPDX-License-Identifier: Apache-2.0 */
/* The extensions of a device: libcore uses the extensions that the device has, and works without extensions that are
 * missing or have invalid tables. */

#include "common/support.h"

static char logged[COLLET_ERROR_TEXT];

static void keep_error(void *user, int32_t level, const char *text)
{
    if (level == COLLET_LOG_ERROR)
        snprintf(logged, sizeof logged, "%s", text);
}

/* Opens the test backend with a fault in the table of one extension. */
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
    assert_success(collet_runtime_create(&w.rt, &options, &err), err);
    w.cx = context_of(w.rt);
    return w;
}

static collet_memory_stats memory_of(collet_context *cx, const char *space)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, &stats, space));
    return stats;
}

/* The number of bytes that the device still keeps for later calls after a trim. */
static uint64_t kept_after_trim(collet_context *cx)
{
    collet_array *a = floats(cx, 16, 0), *b = empty_floats(cx, 16);
    assert_ok(cx, collet_op_add(cx, b, a, a));
    collet_array_destroy(a);
    collet_array_destroy(b);
    assert_ok(cx, collet_finish(cx));
    assert_ok(cx, collet_trim(cx));
    return memory_of(cx, "remote:0").held;
}

TEST(trim)
{
    OWNED(world) w = open_spoiled("none", "absent");
    assert_int_equal(kept_after_trim(w.cx), 0);
    assert_string_equal(logged, "");
    close_world(w);
    w = open_spoiled("collet.trim/1", "absent");
    assert_int_equal(kept_after_trim(w.cx), 128);
    assert_string_equal(logged, "");
}

/* With the extension, the test device reports every allocation as memory that it keeps until a trim.
 * Without the extension, libcore counts the allocations itself and knows of no kept memory. */
TEST(memory)
{
    for (int own = 0; own < 2; own++) {
        OWNED(world) w = open_spoiled(own ? "collet.memory/1" : "none", "absent");
        collet_array *a = floats(w.cx, 16, 0), *b = empty_floats(w.cx, 16);
        assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
        assert_ok(w.cx, collet_finish(w.cx));
        assert_int_equal(memory_of(w.cx, "remote:0").current, 128);
        collet_array_destroy(a);
        assert_ok(w.cx, collet_finish(w.cx));
        collet_memory_stats stats = memory_of(w.cx, "remote:0");
        assert_int_equal(stats.current, 64);
        assert_int_equal(stats.peak, 128);
        assert_int_equal(stats.held, own ? 64 : 128);
        assert_int_equal(stats.total, own ? 9007199254740992 : 0);
        assert_int_equal(stats.available, 0);
        assert_ok(w.cx, collet_memory_reset_peak(w.cx, "remote:0"));
        assert_int_equal(memory_of(w.cx, "remote:0").peak, 64);
        assert_int_equal(memory_of(w.cx, "remote:1").peak, 0);
        collet_array_destroy(b);
        assert_int_equal(memory_of(w.cx, "remote:0").current, 0);
    }
}

/* Without the extension the bytes are copied through host memory. */
TEST(copy)
{
    for (int own = 0; own < 2; own++) {
        OWNED(world) w = open_spoiled(own ? "collet.copy/1" : "none", "absent");
        OWNED(collet_array) *a = floats(w.cx, 16, 0), *b = empty_floats(w.cx, 16);
        assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
        assert_ok(w.cx, collet_set_backend(w.cx, "remote:1"));
        assert_ok(w.cx, collet_op_add(w.cx, a, b, b));
        assert_int_equal(counters_of(w.cx).bytes_direct, own ? 0 : 64);
    }
}

TEST(pinned)
{
    collet_pinned *p = NULL;
    collet_array *a = NULL, *b = NULL;
    void *address = NULL;
    const int64_t n = 16;
    OWNED(world) w = open_spoiled("none", "absent");
    assert_ok(w.cx, collet_pinned_create(w.cx, &p, &address, "remote", 64));
    assert_int_equal((uintptr_t)address % 64, 0);
    for (int i = 0; i < 16; i++)
        ((float *)address)[i] = (float)i;
    assert_ok(w.cx, collet_array_wrap(w.cx, &a, COLLET_F32, 1, &n, NULL, address, 0, NULL, NULL));
    b = empty_floats(w.cx, 16);
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    collet_array_destroy(a);
    collet_array_destroy(b);
    collet_pinned *other = NULL;
    assert_status(w.cx, collet_pinned_create(w.cx, &other, &address, "remote", 1 << 20),
                  COLLET_REFUSED, "no 1048576 bytes of page-locked memory");
    assert_status(w.cx, collet_pinned_create(w.cx, &other, &address, "remote", 0), COLLET_INVALID);
    assert_status(w.cx, collet_pinned_create(w.cx, NULL, &address, "remote", 8), COLLET_INVALID);
    assert_status(w.cx, collet_pinned_create(w.cx, &other, NULL, "remote", 8), COLLET_INVALID);
    assert_status(w.cx, collet_pinned_create(w.cx, &other, &address, "host", 8), COLLET_UNSUPPORTED,
                  "collet_pinned_create: host offers no page-locked memory");
    assert_null(other);
    /* Page-locked memory keeps its device open. */
    close_world(w);
    collet_pinned_destroy(p);
    collet_pinned_destroy(NULL);
    w = open_spoiled("collet.pinned/1", "absent");
    assert_status(w.cx, collet_pinned_create(w.cx, &p, &address, "remote", 8), COLLET_UNSUPPORTED);
}

static const char *const names[] = {"collet.copy/1",   "collet.memory/1", "collet.native/1",
                                    "collet.pinned/1", "collet.timing/1", "collet.trim/1"};
static const char *const faults[] = {"short", "reserved", "null"};
static const char *const reasons[] = {"bytes, and the first version has ", "`reserved` is not 0",
                                      "a function in its table is NULL"};

/* Invalid tables are logged as errors and not used: a call of one of their functions would
 * crash. */
TEST(spoiled_tables)
{
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
            OWNED(world) w = open_spoiled(names[k], faults[i]);
            collet_timestamp *t = NULL;
            (void)kept_after_trim(w.cx);
            assert_ok(w.cx, collet_timestamp_take(w.cx, &t, NULL));
            collet_timestamp_destroy(t);
            assert_ok(w.cx, collet_memory_reset_peak(w.cx, "remote:0"));
            if (!strstr(logged, "remote:0: the extension ") || !strstr(logged, names[k]) ||
                !strstr(logged, reasons[i]))
                fail_msg("%s %s: '%s'", names[k], faults[i], logged);
        }
    }
}
