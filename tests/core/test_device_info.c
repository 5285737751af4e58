/* SPDX-License-Identifier: Apache-2.0 */
/* Information about devices: memory, properties, kernels. */

#include "common/fixture.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN

static int set_up(void **state)
{
    open_shared(BOTH, NULL, "cpu_scalar");
    return 0;
}

TEST_WITH(memory_of_one_space, set_up, tear_down)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, &stats, "host"));
    assert_true(stats.total > 0);
    assert_ok(cx, collet_memory(cx, &stats, "remote:1"));
    assert_int_equal(stats.total, 0);
    assert_status(cx, collet_memory(cx, &stats, "auto"), COLLET_INVALID);
    assert_status(cx, collet_memory(cx, &stats, "remote:0,remote:1"), COLLET_INVALID,
                  "neither \"host\" nor one device");
    stats.struct_size = 0;
    assert_status(cx, collet_memory(cx, &stats, "host"), COLLET_INVALID);
}

/* One backend claims all 63 devices: it gets 16, and the next backend still works. */
TEST_WITH(devices_are_left, set_up, tear_down)
{
    static const char *const settings[] = {"remote.devices=63", "probe=off", "backend=remote",
                                           NULL};
    OWNED(collet_runtime) *crowded = runtime_with(BOTH, settings);
    OWNED(collet_context) *own = context_of(crowded);
    assert_ok(own, collet_set_backend(own, "cpu_scalar"));
    assert_ok(own, collet_set_backend(own, "remote:15"));
    assert_status(own, collet_set_backend(own, "remote:16"), COLLET_UNAVAILABLE);
    assert_ok(own, collet_set_backend(own, "auto"));
}

TEST_WITH(kernels_are_looked_up_by_real_dtypes, set_up, tear_down)
{
    collet_error err;
    const collet_dtype valid[] = {COLLET_F32, COLLET_F32, COLLET_F32},
                       wrong[] = {COLLET_F32, 999, 3},
                       mixed[] = {COLLET_F32, COLLET_F64, COLLET_DTYPE_NONE},
                       any[] = {COLLET_DTYPE_NONE, COLLET_DTYPE_NONE, COLLET_F32};
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, valid, 3, &err),
                     COLLET_OK);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, wrong, 3, &err),
                     COLLET_DTYPE);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, valid, 2, &err),
                     COLLET_OK);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, mixed, 3, &err),
                     COLLET_UNSUPPORTED);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, any, 3, &err),
                     COLLET_OK);
    assert_int_equal(collet_backend_has_kernel(rt, "remote:", COLLET_OP_ADD, valid, 3, &err),
                     COLLET_INVALID);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", 999, valid, 3, &err),
                     COLLET_NOT_FOUND);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, NULL, 0, &err),
                     COLLET_OK);
    assert_int_equal(collet_backend_has_kernel(rt, "remote", COLLET_OP_ADD, NULL, 1, &err),
                     COLLET_INVALID);
}

/* The error of a call that needs exactly one device says so, and lists the available devices. */
TEST_WITH(one_device_is_named, set_up, tear_down)
{
    static const char *const several[] = {"auto", "", "cpu_scalar,remote", "remote,remote",
                                          "remote:"};
    collet_error err;
    collet_memory_stats stats = {.struct_size = sizeof stats};
#define ASK(name) collet_backend_has_kernel(rt, name, COLLET_OP_ADD, NULL, 0, &err)
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        assert_int_equal(ASK(several[i]), COLLET_INVALID);
        assert_contains(err.text, "is not one backend or device; write NAME or NAME:DEVICE; "
                                  "available: cpu_scalar, remote");
        assert_status(cx, collet_memory(cx, &stats, several[i]), COLLET_INVALID,
                      "is neither \"host\" nor one device; write host, NAME or NAME:DEVICE; "
                      "available: cpu_scalar, remote");
    }
    assert_int_equal(ASK("host"), COLLET_UNKNOWN_BACKEND);
    assert_contains(err.text, "there is no backend 'host'; available: cpu_scalar, remote");
    assert_int_equal(ASK("remot"), COLLET_UNKNOWN_BACKEND);
    assert_contains(err.text, "did you mean 'remote'");
    assert_int_equal(ASK("remote:99999999999999999999"), COLLET_UNAVAILABLE);
    assert_contains(err.text, "device 99999999999999999999 is out of range: it has 2 devices");
#undef ASK
}

TEST_WITH(peaks_can_be_reset, set_up, tear_down)
{
    static const char *const spaces[] = {"host", "remote:0"};
    assert_ok(cx, collet_set_backend(cx, "remote:0"));
    collet_array *small = floats(cx, 4, 0), *large = floats(cx, 64, 0);
    assert_ok(cx, collet_op_add(cx, small, small, small));
    assert_ok(cx, collet_op_add(cx, large, large, large));
    assert_ok(cx, collet_finish(cx));
    collet_array_destroy(large);
    for (int i = 0; i < 2; i++) {
        collet_memory_stats stats = {.struct_size = sizeof stats};
        assert_ok(cx, collet_memory(cx, &stats, spaces[i]));
        assert_true(stats.current == 16 && stats.peak == 16 + 256);
        assert_ok(cx, collet_memory_reset_peak(cx, spaces[i]));
        assert_ok(cx, collet_memory(cx, &stats, spaces[i]));
        assert_true(stats.current == 16 && stats.peak == 16);
    }
    assert_status(cx, collet_memory_reset_peak(cx, "auto"), COLLET_INVALID,
                  "collet_memory_reset_peak: 'auto' is neither");
    assert_status(cx, collet_memory_reset_peak(cx, NULL), COLLET_INVALID);
    collet_array_destroy(small);
}

TEST_WITH(devices_have_properties, set_up, tear_down)
{
    collet_error err;
    size_t b = 0;
    collet_backend_info backend = {.struct_size = sizeof backend};
    while (collet_backend_info_at(rt, &backend, b, &err) == COLLET_OK &&
           strcmp(backend.name, "remote") != 0)
        b++;
    collet_device_info d = {.struct_size = sizeof d};
    assert_int_equal(collet_device_info_at(rt, &d, b, 0, &err), COLLET_OK);
    assert_string_equal(d.choice, "remote:0");
    assert_string_equal(d.name, "remote 0");
    assert_string_equal(d.vendor, "nobody");
    assert_string_equal(d.driver, "7");
    assert_true(d.kind == COLLET_DEVICE_OTHER && d.memory == COLLET_MEMORY_OWN);
    assert_int_equal(d.execution, COLLET_EXECUTION_ASYNCHRONOUS);
    assert_true(d.memory_bytes == 1ull << 53 && d.largest_array == 3 && d.compute_units == 4);
    assert_true(d.cache_bytes == 0 && d.clock_mhz == 0); /* these make no sense */
    assert_int_equal(collet_device_info_at(rt, &d, b, 1, &err), COLLET_OK);
    assert_string_equal(d.vendor, "");
    assert_true(d.memory_bytes == 0 && d.compute_units == 0 && d.kind == COLLET_DEVICE_GPU);
    assert_true(d.memory == COLLET_MEMORY_UNKNOWN && d.execution == COLLET_EXECUTION_UNKNOWN);
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_set_backend(cx, "remote:1"));
    OWNED(collet_array) *a = floats(cx, 4, 0);
    assert_ok(cx, collet_op_add(cx, a, a, a)); /* opens it */
    assert_ok(cx, collet_memory(cx, &stats, "remote:1"));
    assert_int_equal(collet_device_info_at(rt, &d, b, 1, &err), COLLET_OK);
    assert_true(d.memory == COLLET_MEMORY_OWN && d.execution == COLLET_EXECUTION_ASYNCHRONOUS);
    assert_error(collet_device_info_at(rt, &d, b, 2, &err), COLLET_NOT_FOUND, err,
                 "index 2 is out of range");
    assert_int_equal(collet_device_info_at(rt, &d, 99, 0, &err), COLLET_NOT_FOUND);
}

TEST_WITH(processors_have_properties, set_up, tear_down)
{
    OWNED(collet_runtime) *own = runtime_with(OPENMP_PLUGIN ":" SCALAR_PLUGIN, NULL);
    for (size_t b = 0; b < 2; b++) {
        collet_device_info d = {.struct_size = sizeof d};
        collet_error err;
        assert_int_equal(collet_device_info_at(own, &d, b, 0, &err), COLLET_OK);
        assert_true(d.kind == COLLET_DEVICE_CPU && d.memory == COLLET_MEMORY_HOST);
        assert_int_equal(d.execution, COLLET_EXECUTION_SYNCHRONOUS);
        assert_true(d.compute_units >= 1 && d.memory_bytes > 1 << 20);
    }
}
