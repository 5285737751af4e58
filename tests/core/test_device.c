/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of different kinds, kernel rows that may refuse a call, and plugins of different versions
 * (tests/fakes/mixed). */
#include <pthread.h>

#include "common/support.h"

#define MIXED COLLET_TEST_MIXED "/mixed.so"
#define NEWER COLLET_TEST_MIXED "/mixed_newer.so"
#define CLASH COLLET_TEST_MIXED "/mixed_clash.so"
#define NONE COLLET_TEST_MIXED "/mixed_none.so"
#define NAMED COLLET_TEST_MIXED "/mixed_named.so"

/* ---- Devices ------------------------------------------------------------------------------ */

static void add_on(collet_context *cx, const char *backend)
{
    const float expected[] = {11, 13, 15, 17};
    assert_ok(cx, collet_set_backend(cx, backend));
    OWNED(collet_array) *a = floats(cx, 4, 1), *b = floats(cx, 4, 10), *c = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, c, a, b));
    assert_ok(cx, collet_finish(cx));
    assert_floats(cx, c, expected);
}

/* One plugin has devices with and without their own memory and queues. */
TEST(devices_differ)
{
    OWNED(world) w = open_world(MIXED, NULL, "mixed");
    add_on(w.cx, "mixed:0");
    assert_int_equal(counters_of(w.cx).bytes_to_device, 0);
    add_on(w.cx, "mixed:1");
    assert_int_equal(counters_of(w.cx).bytes_to_device, 32);
    add_on(w.cx, "mixed:2");
    assert_int_equal(counters_of(w.cx).bytes_to_device, 64);
    for (uint32_t i = 0; i < 3; i++) {
        collet_device_info info = {.struct_size = sizeof info};
        assert_ok(w.cx, collet_device_info_at(w.rt, &info, 0, i, NULL));
        assert_int_equal(info.memory, i ? COLLET_MEMORY_OWN : COLLET_MEMORY_HOST);
        assert_int_equal(info.execution,
                         i == 2 ? COLLET_EXECUTION_ASYNCHRONOUS : COLLET_EXECUTION_SYNCHRONOUS);
    }
}

static void note(void *user)
{
    *(int *)user += 1;
}

/* Memory that a lost device may still write is kept until the device's queues are gone. This holds for
 * libcore's memory (which the address sanitizer watches) and for the program's. */
TEST(host_memory_at_work_is_kept)
{
    static float memory[4];
    const int64_t n = 4;
    int deleted = 0;
    world w = open_world(MIXED, NULL, "mixed:6");
    collet_context *other = context_of(w.rt);
    assert_ok(other, collet_set_backend(other, "mixed:6"));
    collet_array *a = floats(w.cx, 4, 1), *b = empty_floats(w.cx, 4), *wrapped = NULL;
    assert_ok(w.cx, collet_array_wrap(w.cx, &wrapped, COLLET_F32, 1, &n, NULL, memory, 0, note,
                                      &deleted));
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    assert_ok(other, collet_op_add(other, wrapped, a, a));
    assert_status(w.cx, collet_finish(w.cx), COLLET_DEVICE_LOST);
    collet_array_destroy(a);
    collet_array_destroy(b);
    collet_array_destroy(wrapped);
    collet_context_destroy(other);
    assert_int_equal(deleted, 0);
    close_world(w);
    assert_int_equal(deleted, 1);
    assert_true(memory[0] == 7);
}

/* Devices that have only names are opened by name, never under "auto". */
TEST(devices_by_name)
{
    const collet_dtype f32[] = {COLLET_F32, COLLET_F32, COLLET_F32};
    collet_backend_info info = {.struct_size = sizeof info};
    OWNED(world) w = open_world(NAMED ":" SCALAR_PLUGIN, NULL, NULL);
    assert_ok(w.cx, collet_backend_info_at(w.rt, &info, 1, NULL));
    assert_string_equal(info.name, "mixed_named");
    assert_int_equal(info.state, COLLET_BACKEND_UNAVAILABLE);
    assert_string_equal(info.reason, "the card is in another machine");
    add_on(w.cx, "auto");
    assert_string_equal(collet_last_backend(w.cx), "cpu_scalar");
    add_on(w.cx, "mixed_named:own");
    assert_string_equal(collet_last_backend(w.cx), "mixed_named:own");
    assert_int_equal(counters_of(w.cx).bytes_to_device, 32);
    add_on(w.cx, "mixed_named:host,mixed_named:own");
    assert_int_equal(counters_of(w.cx).bytes_to_device, 32);
    add_on(w.cx, "mixed_named:own");
    assert_status(w.cx, collet_set_backend(w.cx, "mixed_named:other"), COLLET_UNAVAILABLE,
                  "no device is called other");
    assert_status(w.cx, collet_set_backend(w.cx, "mixed_named"), COLLET_UNAVAILABLE,
                  "the card is in another machine");
    assert_status(w.cx, collet_set_backend(w.cx, "mixed_named:0"), COLLET_UNAVAILABLE);
    assert_status(w.cx, collet_set_backend(w.cx, "mixed_named:"), COLLET_UNKNOWN_BACKEND);
    assert_status(w.cx, collet_set_backend(w.cx, "cpu_scalar:own"), COLLET_UNKNOWN_BACKEND);
    uint32_t add = COLLET_OP_ADD;
    assert_int_equal(collet_backend_has_kernel(w.rt, "mixed_named:host", add, f32, 3, NULL),
                     COLLET_OK);
    assert_int_equal(collet_backend_has_kernel(w.rt, "mixed_named:other", add, f32, 3, NULL),
                     COLLET_UNAVAILABLE);
    assert_int_equal(collet_backend_has_kernel(w.rt, "mixed_named:", add, f32, 3, NULL),
                     COLLET_INVALID);
    assert_int_equal(collet_backend_has_kernel(w.rt, "mixed_named", add, f32, 3, NULL),
                     COLLET_UNAVAILABLE);
}

/* The number of named devices of a backend is limited. */
TEST(names_are_bounded)
{
    char choice[32];
    OWNED(world) w = open_world(NAMED ":" SCALAR_PLUGIN, NULL, "mixed_named:own");
    for (int i = 0; i < 40; i++) {
        snprintf(choice, sizeof choice, "mixed_named:n%d", i);
        assert_status(w.cx, collet_set_backend(w.cx, choice), COLLET_UNAVAILABLE);
    }
    assert_text_has(w.cx, "a backend supports at most 16 named devices");
    add_on(w.cx, "mixed_named:own");
}

/* Whether a plugin record of stage "open" has this code and a reason that contains this text. */
static int is_recorded(collet_runtime *rt, const char *code, const char *reason)
{
    for (size_t i = 0; i < collet_record_count(rt); i++) {
        collet_plugin_record r = {.struct_size = sizeof r};
        if (collet_record_at(rt, &r, i, NULL) == COLLET_OK && !strcmp(r.stage, "open") &&
            !strcmp(r.code, code) && strstr(r.reason, reason))
            return 1;
    }
    return 0;
}

TEST(an_unknown_property_is_refused)
{
    OWNED(world) w = open_world(MIXED, NULL, "mixed");
    assert_status(w.cx, collet_set_backend(w.cx, "mixed:5"), COLLET_UNAVAILABLE,
                  "device_open set memory to 3");
    assert_true(is_recorded(w.rt, "device-properties", "mixed:5: device_open set memory to 3"));
}

typedef struct user {
    pthread_t thread;
    collet_runtime *rt;
    const char *backend;
} user;

static void *use_device(void *argument)
{
    const user *u = argument;
    for (int i = 0; i < 4; i++) {
        OWNED(collet_context) *cx = context_of(u->rt);
        for (int k = 0; k < 5; k++)
            add_on(cx, u->backend);
        collet_memory_stats stats = {.struct_size = sizeof stats};
        assert_ok(cx, collet_memory(cx, &stats, u->backend));
        assert_ok(cx, collet_trim(cx));
    }
    return NULL;
}

/* The plugin aborts if two calls run at once on these devices, or if a second queue is created. */
static void use_from_threads(const char *backend)
{
    OWNED(collet_runtime) *rt = runtime_with(MIXED, NULL);
    user users[4];
    for (int i = 0; i < 4; i++) {
        users[i] = (user){.rt = rt, .backend = backend};
        assert_int_equal(pthread_create(&users[i].thread, NULL, use_device, &users[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(users[i].thread, NULL);
}

TEST(one_call_at_a_time)
{
    use_from_threads("mixed:3");
    use_from_threads("mixed:4");
}

TEST(one_queue)
{
    use_from_threads("mixed:2");
}

/* If contexts share a queue, each context reports only the failures of its own calls. */
TEST(one_queue_and_a_failure)
{
    static const char *const settings[] = {"mixed.fails=2", NULL};
    float sink[4];
    OWNED(world) w = open_world(MIXED, settings, "mixed:2");
    OWNED(collet_context) *other = context_of(w.rt);
    assert_ok(other, collet_set_backend(other, "mixed:2"));
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *b = empty_floats(w.cx, 4),
                        *c = empty_floats(w.cx, 4);
    assert_ok(other, collet_op_add(other, b, a, a));
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_status(w.cx, collet_finish(w.cx), COLLET_FAILED, "kernel 2 failed");
    assert_ok(w.cx, collet_finish(w.cx));
    assert_ok(other, collet_finish(other));
    assert_ok(other, collet_array_read(other, b, sink, sizeof sink));
    assert_status(other, collet_array_read(other, c, sink, sizeof sink), COLLET_FAILED);
    assert_ok(other, collet_op_add(other, c, a, a));
    assert_ok(w.cx, collet_array_read(w.cx, c, sink, sizeof sink));
}

/* ---- Rows --------------------------------------------------------------------------------- */

#define N 1024
static collet_array *matrix(collet_context *cx)
{
    static float zeros[N * N];
    static const int64_t shape[] = {N, N};
    collet_array *a = NULL;
    assert_ok(cx, collet_array_from(cx, &a, COLLET_F32, 2, shape, zeros));
    return a;
}

/* A kernel row refuses a call before the operands are copied to the device, and before temporaries are
 * made for operands that overlap. */
TEST(refused_products_move_nothing)
{
    static const char *const settings[] = {"mixed.refused=1048576", NULL};
    OWNED(world) w = open_world(MIXED ":" SCALAR_PLUGIN, settings, "mixed:1");
    OWNED(collet_array) *a = matrix(w.cx), *b = matrix(w.cx), *c = matrix(w.cx);
    collet_counters before = counters_of(w.cx);
    for (int i = 0; i < 10; i++) {
        assert_status(w.cx, collet_op_matmul(w.cx, c, a, b), COLLET_REFUSED,
                      "1048576 elements are too many");
    }
    assert_status(w.cx, collet_op_matmul(w.cx, c, c, b), COLLET_REFUSED);
    collet_counters after = counters_of(w.cx);
    assert_int_equal(after.bytes_to_device, before.bytes_to_device);
    assert_int_equal(after.bytes_to_host, before.bytes_to_host);
    assert_int_equal(after.temporaries, before.temporaries);
}

/* If a device lacks memory for a write, a fallback runs the call, as if the device had refused the call. */
TEST(no_memory_for_a_write_falls_back)
{
    static const char *const settings[] = {"mixed.largest_write=8", NULL};
    OWNED(world) w = open_world(MIXED ":" SCALAR_PLUGIN, settings, "mixed:1");
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
    assert_status(w.cx, collet_op_add(w.cx, c, a, a), COLLET_REFUSED, "no staging buffer is left");
    assert_ok(w.cx, collet_set_backend(w.cx, "mixed:1,cpu_scalar"));
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_string_equal(collet_last_backend(w.cx), "cpu_scalar");
    assert_int_equal(counters_of(w.cx).fallbacks, 1);
    const float expected[] = {2, 4, 6, 8};
    assert_floats(w.cx, c, expected);
}

TEST(a_row_with_unknown_flags_is_left_out)
{
    OWNED(world) w = open_world(NEWER, NULL, "mixed_newer");
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
    assert_ok(w.cx, collet_op_copy(w.cx, c, a));
    assert_status(w.cx, collet_op_add(w.cx, c, a, a), COLLET_UNSUPPORTED);
    assert_true(is_recorded(w.rt, "row-left-out", "in row 1 flags is 0x4"));
}

/* ---- Ops of plugins ------------------------------------------------------------------------ */

typedef struct scale_params {
    uint32_t struct_size;
    float factor, summand;
    uint32_t reserved;
} scale_params;

static collet_status scale(collet_context *cx, uint32_t op, collet_array *c, collet_array *a,
                           scale_params params)
{
    const collet_array *ins[] = {a};
    return collet_call(cx, op, &c, ins, &params);
}

static uint32_t find_op(collet_runtime *rt, const char *name)
{
    uint32_t op = 0;
    collet_error err;
    assert_success(collet_ops_find(rt, &op, name, &err), err);
    return op;
}

/* Two plugins define an op with parameters of different length. The op gets the longer parameters,
 * whichever plugin is opened first. A call that uses parameters unknown to the kernel row of the older
 * plugin runs on the newer plugin. */
TEST(an_op_grows)
{
    static const char *const orders[] = {"mixed,mixed_newer", "mixed_newer,mixed"};
    for (int order = 0; order < 2; order++) {
        OWNED(world) w = open_world(MIXED ":" NEWER, NULL, orders[order]);
        uint32_t op = find_op(w.rt, "mixed.scale");
        collet_ops_info info = {.struct_size = sizeof info};
        assert_ok(w.cx, collet_ops_describe(w.rt, op, &info, NULL));
        assert_int_equal(info.params_size, sizeof(scale_params));
        assert_int_equal(info.field_count, 2);
        assert_string_equal(info.sigs, "d:d f:f");
        assert_ok(w.cx, collet_set_backend(w.cx, "mixed,mixed_newer"));
        OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
        assert_ok(w.cx, scale(w.cx, op, c, a, (scale_params){8, 2, 0, 0}));
        assert_string_equal(collet_last_backend(w.cx), "mixed");
        assert_ok(w.cx, scale(w.cx, op, c, a, (scale_params){16, 2, 0, 0}));
        assert_string_equal(collet_last_backend(w.cx), "mixed");
        assert_ok(w.cx, scale(w.cx, op, c, a, (scale_params){16, 2, 3, 0}));
        assert_string_equal(collet_last_backend(w.cx), "mixed_newer");
        const float expected[] = {5, 7, 9, 11};
        assert_floats(w.cx, c, expected);
        assert_ok(w.cx, collet_set_backend(w.cx, "mixed"));
        assert_status(w.cx, scale(w.cx, op, c, a, (scale_params){16, 2, 3, 0}), COLLET_REFUSED,
                      "supports only the first 8 of the 16 bytes");
        assert_true(is_recorded(w.rt, "op-left-out", "op mixed.later: alias is 2"));
        assert_int_equal(collet_ops_find(w.rt, &op, "mixed.later", NULL), COLLET_NOT_FOUND);
    }
}

/* If two backends define an op differently, the first definition counts; the second backend keeps
 * its other ops. */
TEST(a_clash_costs_only_that_op)
{
    OWNED(world) w = open_world(MIXED ":" CLASH, NULL, "mixed,mixed_clash");
    uint32_t op = find_op(w.rt, "mixed.scale"), odd = find_op(w.rt, "mixed_clash.odd");
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
    const collet_array *ins[] = {a};
    assert_ok(w.cx, scale(w.cx, op, c, a, (scale_params){8, 2, 0, 0}));
    assert_string_equal(collet_last_backend(w.cx), "mixed");
    assert_ok(w.cx, collet_set_backend(w.cx, "mixed_clash"));
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_ok(w.cx, collet_call(w.cx, odd, &c, ins, NULL));
    assert_status(w.cx, scale(w.cx, op, c, a, (scale_params){8, 2, 0, 0}), COLLET_UNSUPPORTED,
                  "its own definition of this op was left out");
    assert_true(
        is_recorded(w.rt, "op-left-out",
                    "op mixed.scale: mixed, which was opened first, defines it with other shapes"));
    assert_true(is_recorded(
        w.rt, "op-left-out",
        "op mixed.weigh: mixed, which was opened first, defines it with other parameters"));
    assert_true(is_recorded(w.rt, "signature-left-out", "op mixed_clash.odd: 1 sig"));
}

/* ---- No device ----------------------------------------------------------------------------- */

TEST(a_reason_suffices_without_devices)
{
    OWNED(world) w = open_world(NONE ":" SCALAR_PLUGIN, NULL, NULL);
    assert_status(w.cx, collet_set_backend(w.cx, "mixed_none"), COLLET_UNAVAILABLE,
                  "the card is in another machine");
}

int main(void)
{
    without_trace();
    return test_run();
}
