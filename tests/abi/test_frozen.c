/* SPDX-License-Identifier: Apache-2.0 */
/* Binary plugins compiled against every released interface still work. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include <collet/collet.h>

typedef struct shift_params {
    uint32_t struct_size;
    float value;
} shift_params;

typedef struct world {
    collet_runtime *rt;
    collet_context *cx;
} world;

static world open_world(const char *path, const char *name, uint32_t abi)
{
    world w = {NULL, NULL};
    collet_error err = {COLLET_OK, ""};
    collet_runtime_options options = {.struct_size = sizeof options, .plugin_path = path};
    assert_int_equal(collet_runtime_create(&w.rt, &options, &err), COLLET_OK);
    collet_backend_info info = {.struct_size = sizeof info};
    assert_int_equal(collet_backend_info_at(w.rt, 0, &info, NULL), COLLET_OK);
    if (info.state != COLLET_BACKEND_USABLE)
        fail_msg("%s: %s", info.name, info.reason);
    assert_string_equal(info.name, name);
    assert_int_equal(info.abi, abi);
    assert_int_equal(collet_context_create(&w.cx, w.rt, &err), COLLET_OK);
    return w;
}

static void close_world(world w)
{
    collet_context_destroy(w.cx);
    collet_runtime_destroy(w.rt);
}

static const int64_t four = 4;
static const float values[] = {1, 2, 3, 4};

static void interface_1_0(void **state)
{
    world w = open_world(COLLET_FROZEN_1_0, "frozen_1_0", 1u << 16);
    collet_array *a = NULL, *b = NULL;
    const float expected[] = {12, 14, 16, 18};
    float got[4];
    shift_params params = {sizeof params, 10};
    uint32_t shift = 0;
    (void)state;
    assert_int_equal(collet_array_from(w.cx, &a, COLLET_F32, 1, &four, values), COLLET_OK);
    assert_int_equal(collet_array_create(w.cx, &b, COLLET_F32, 1, &four), COLLET_OK);
    assert_int_equal(collet_add(w.cx, b, a, a), COLLET_OK);
    assert_int_equal(collet_op_find(w.rt, "frozen.shift", &shift, NULL), COLLET_OK);
    const collet_array *in = b;
    assert_int_equal(collet_call(w.cx, shift, &b, &in, &params), COLLET_OK);
    assert_int_equal(collet_array_read(w.cx, b, got, sizeof got), COLLET_OK);
    assert_memory_equal(got, expected, sizeof got);
    collet_array_free(a);
    collet_array_free(b);
    close_world(w);
}

/* Two devices with a table without buffer_copy_between: copies go through the host. */
static void interface_1_1(void **state)
{
    world w = open_world(COLLET_FROZEN_1_1, "frozen_1_1", 1u << 16 | 1u);
    collet_array *a = NULL, *b = NULL;
    const float expected[] = {4, 8, 12, 16};
    float got[4];
    collet_counters moved = {.struct_size = sizeof moved};
    (void)state;
    assert_int_equal(collet_array_from(w.cx, &a, COLLET_F32, 1, &four, values), COLLET_OK);
    assert_int_equal(collet_array_create(w.cx, &b, COLLET_F32, 1, &four), COLLET_OK);
    assert_int_equal(collet_set_backend(w.cx, "frozen_1_1:0"), COLLET_OK);
    assert_int_equal(collet_add(w.cx, b, a, a), COLLET_OK);
    assert_int_equal(collet_set_backend(w.cx, "frozen_1_1:1"), COLLET_OK);
    assert_int_equal(collet_add(w.cx, b, b, b), COLLET_OK);
    assert_int_equal(collet_context_counters(w.cx, &moved), COLLET_OK);
    assert_int_equal(moved.bytes_to_device, 2 * sizeof values);
    assert_int_equal(moved.bytes_to_host, sizeof values);
    assert_int_equal(moved.bytes_direct, 0);
    assert_int_equal(collet_array_read(w.cx, b, got, sizeof got), COLLET_OK);
    assert_memory_equal(got, expected, sizeof got);
    collet_array_free(a);
    collet_array_free(b);
    close_world(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(interface_1_0),
                                       cmocka_unit_test(interface_1_1)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
