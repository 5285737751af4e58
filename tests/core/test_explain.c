/* SPDX-License-Identifier: Apache-2.0 */
/* collet_explain: which backend would run a call and why, without running it. */

#include "common/support.h"

#define BOTH OPENMP_PLUGIN ":" SCALAR_PLUGIN

static collet_array *array_of(collet_context *cx, int32_t ndim, const int64_t *shape)
{
    collet_array *a;
    assert_ok(cx, collet_array_create(cx, &a, COLLET_F32, ndim, shape));
    return a;
}

static const char *explained(collet_context *cx, uint32_t op, collet_array *out, collet_array *a,
                             collet_array *b)
{
    static char text[4096];
    collet_array *outs[] = {out};
    const collet_array *ins[] = {a, b};
    assert_ok(cx, collet_explain(cx, op, text, sizeof text, outs, ins, NULL));
    return text;
}

static world open_both(const char *setting, const char *backend)
{
    const char *settings[] = {"calibration=off", setting, NULL};
    return open_world(BOTH, settings, backend);
}

/* The user chose a library that is switched off. This must be the first test, because a process chooses its libraries
 * only once. */
TEST(a_way_that_is_not_there)
{
    const int64_t shape[] = {200, 200};
    const char *settings[] = {"cpu_openmp.ways=f32=onednn", "cpu_openmp.onednn=off", NULL};
    OWNED(world) w = open_world(BOTH, settings, "auto");
    OWNED(collet_array) *a = array_of(w.cx, 2, shape), *c = array_of(w.cx, 2, shape);
    assert_non_null(
        strstr(explained(w.cx, COLLET_OP_MATMUL, c, a, a),
               "; onednn, chosen by the setting cpu_openmp.ways, is not used: switched off "
               "by the setting cpu_openmp.onednn.\n"));
}

TEST(a_device_and_its_reason)
{
    OWNED(world) w = open_both(NULL, "auto");
    OWNED(collet_array) *a = floats(w.cx, 3, 1);
    const char *text = explained(w.cx, COLLET_OP_ADD, a, a, a);
    assert_ptr_equal(strstr(text, "add (f32 3 <- f32 3, f32 3)\ncpu_openmp:0 runs it.\n"), text);
    assert_non_null(strstr(text, "the first by priority; not all backends are calibrated here"));
    assert_non_null(strstr(text, "  How: by its one kernel for these dtypes.\n"));
    assert_non_null(strstr(text, "\ncpu_scalar:0 could run it, too.\n"));
    collet_array_destroy(a);
    close_world(w);

    w = open_both(NULL, "cpu_scalar");
    a = floats(w.cx, 3, 1);
    text = explained(w.cx, COLLET_OP_ADD, a, a, a);
    assert_non_null(
        strstr(text, "cpu_scalar:0 runs it.\n  Why: the choice of backend is 'cpu_scalar'."));
    assert_null(strstr(text, "cpu_openmp"));
}

/* cpu_openmp reports the implementation that it would use for a matrix product, without computing it. */
TEST(a_way_and_its_reason)
{
    const int64_t shape[] = {200, 200};
    OWNED(world) w = open_both("cpu_openmp.ways=own", "auto");
    OWNED(collet_array) *a = array_of(w.cx, 2, shape), *c = array_of(w.cx, 2, shape);
    collet_counters counters = {.struct_size = sizeof counters};
    const char *text = explained(w.cx, COLLET_OP_MATMUL, c, a, a);
    assert_non_null(strstr(text, "  How: own kernels"));
    assert_non_null(strstr(text, "; chosen by the setting cpu_openmp.ways.\n  Scratch memory: "));
    assert_ok(w.cx, collet_context_counters(w.cx, &counters));
    assert_int_equal(counters.calls, 0);
}

/* An output that overlaps an input at an offset, so the call needs a temporary; and a call without elements. */
TEST(overlaps_and_nothing)
{
    const int64_t none[] = {0};
    OWNED(world) w = open_both(NULL, "auto");
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *empty = array_of(w.cx, 1, none), *left = NULL,
                        *right = NULL;
    assert_ok(w.cx, collet_array_slice(w.cx, a, &left, 0, 0, 3, 1));
    assert_ok(w.cx, collet_array_slice(w.cx, a, &right, 0, 1, 3, 1));
    assert_non_null(strstr(explained(w.cx, COLLET_OP_ADD, left, right, right), " runs it.\n"));
    assert_non_null(
        strstr(explained(w.cx, COLLET_OP_ADD, empty, empty, empty), "nothing is computed"));
}

TEST(errors_and_little_room)
{
    char text[40] = "untouched";
    OWNED(world) w = open_both(NULL, "auto");
    OWNED(collet_array) *a = floats(w.cx, 3, 1), *b = floats(w.cx, 4, 1);
    collet_array *outs[] = {a};
    const collet_array *wrong[] = {a, b}, *right[] = {a, a};
    assert_int_equal(collet_explain(w.cx, COLLET_OP_ADD, text, sizeof text, outs, wrong, NULL),
                     COLLET_SHAPE);
    assert_int_equal(collet_explain(w.cx, 999999, text, sizeof text, outs, right, NULL),
                     COLLET_NOT_FOUND);
    assert_int_equal(collet_explain(w.cx, COLLET_OP_ADD, text, 0, outs, right, NULL),
                     COLLET_INVALID);
    assert_int_equal(collet_explain(w.cx, COLLET_OP_ADD, NULL, 10, outs, right, NULL),
                     COLLET_INVALID);
    assert_int_equal(collet_explain(NULL, COLLET_OP_ADD, text, 10, outs, right, NULL),
                     COLLET_INVALID);
    assert_string_equal(text, "untouched");
    for (uint64_t room = 1; room < sizeof text; room++) {
        memset(text, 'x', sizeof text);
        assert_ok(w.cx, collet_explain(w.cx, COLLET_OP_ADD, text, room, outs, right, NULL));
        assert_int_equal(strlen(text), room - 1);
        assert_int_equal(text[room], 'x');
    }
}
