/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins compiled against every released interface go on working, as the binaries they were. */
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

static void interface_1_0(void **state)
{
    collet_runtime *rt = NULL;
    collet_context *cx = NULL;
    collet_array *a = NULL, *b = NULL;
    collet_error err = {COLLET_OK, ""};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = COLLET_FROZEN_1_0};
    const int64_t four = 4;
    const float values[] = {1, 2, 3, 4}, wanted[] = {12, 14, 16, 18};
    float got[4];
    shift_params params = {sizeof params, 10};
    uint32_t shift = 0;
    (void)state;
    assert_int_equal(collet_runtime_create(&rt, &options, &err), COLLET_OK);
    collet_backend_info info = {.struct_size = sizeof info};
    assert_int_equal(collet_backend_info_at(rt, 0, &info), COLLET_OK);
    if (info.state != COLLET_BACKEND_USABLE)
        fail_msg("%s: %s", info.name, info.reason);
    assert_string_equal(info.name, "frozen_1_0");
    assert_int_equal(info.abi, 1u << 16);
    assert_int_equal(collet_context_create(&cx, rt, &err), COLLET_OK);
    assert_int_equal(collet_array_from(cx, &a, COLLET_F32, 1, &four, values), COLLET_OK);
    assert_int_equal(collet_array_create(cx, &b, COLLET_F32, 1, &four), COLLET_OK);
    assert_int_equal(collet_add(cx, b, a, a), COLLET_OK);
    assert_int_equal(collet_op_find(rt, "frozen.shift", &shift), COLLET_OK);
    const collet_array *in = b;
    assert_int_equal(collet_call(cx, shift, &b, &in, &params), COLLET_OK);
    assert_int_equal(collet_array_read(cx, b, got, sizeof got), COLLET_OK);
    assert_memory_equal(got, wanted, sizeof got);
    collet_array_free(a);
    collet_array_free(b);
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(interface_1_0)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
