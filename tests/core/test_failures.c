/* SPDX-License-Identifier: Apache-2.0 */
/* State after failures: which bytes stay readable, which context gets the error, which calls are retried.
 * Uses the test backend, which fails on demand. */

#include "common/fixture.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN

static int opened, closed;
static char not_copied[COLLET_ERROR_TEXT]; /* the warning about wrapped memory, or "" */

static void count_opening(void *user, int32_t level, const char *text)
{
    opened += strstr(text, "opening device") != NULL;
    closed += !strcmp(text, "remote: closed to 100 %s");
    if (level == COLLET_LOG_ERROR && strstr(text, "wrapped"))
        snprintf(not_copied, sizeof not_copied, "%s", text);
}

static void open_remote(const char *first, const char *second, const char *backend)
{
    const char *const settings[] = {first, second, NULL};
    collet_error err = {COLLET_OK, ""};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = BOTH,
                                      .settings = settings,
                                      .log = count_opening};
    opened = closed = 0;
    not_copied[0] = '\0';
    if (collet_runtime_create(&rt, &options, &err) != COLLET_OK)
        fail_msg("collet_runtime_create: %s", err.text);
    cx = context_of(rt);
    if (backend)
        assert_ok(cx, collet_set_backend(cx, backend));
}

static const float doubled[] = {2, 4, 6, 8};

/* The outputs of failed work stay invalid, even if many failures follow. */
TEST_WITH(every_failure_is_remembered, NULL, tear_down)
{
    float sink[4];
    collet_array *bad[12];
    open_remote("remote.fail=1,2,3,4,5,6,7,8,9,10,11,12", NULL, "remote");
    OWNED(collet_array) *a = floats(cx, 4, 1);
    for (int i = 0; i < 12; i++) {
        bad[i] = empty_floats(cx, 4);
        assert_ok(cx, collet_op_add(cx, bad[i], a, a));
        assert_status(cx, collet_finish(cx), COLLET_FAILED);
    }
    for (int i = 0; i < 12; i++) {
        assert_status(cx, collet_array_read(cx, bad[i], sink, sizeof sink), COLLET_FAILED);
        assert_status(cx, collet_op_add(cx, a, bad[i], a), COLLET_FAILED);
        collet_array_destroy(bad[i]);
    }
}

/* The enqueuing context gets the error even if another context waited first. */
TEST_WITH(finish_reports_failures_seen_by_another_context, NULL, tear_down)
{
    float sink[4];
    open_remote("remote.fail=1", NULL, "remote");
    OWNED(collet_context) *other = context_of(rt);
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_status(other, collet_array_read(other, c, sink, sizeof sink), COLLET_FAILED);
    assert_status(cx, collet_finish(cx), COLLET_FAILED);
    assert_ok(cx, collet_finish(cx));
    assert_ok(other, collet_finish(other));
}

/* Overwriting all bytes succeeds although the work that wrote them before failed. */
TEST_WITH(failed_outputs_can_be_overwritten, NULL, tear_down)
{
    const float fresh[] = {2, 4, 6, 8};
    open_remote("remote.fail=1,2", NULL, "remote:0");
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4), *d = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_ok(cx, collet_op_add(cx, d, a, a));
    assert_status(cx, collet_finish(cx), COLLET_FAILED);
    assert_ok(cx, collet_array_write(cx, c, fresh, sizeof fresh));
    assert_int_equal(counters_of(cx).bytes_to_host, 0);
    assert_floats(cx, c, doubled);
    OWNED(collet_context) *other = context_of(rt);
    assert_ok(other, collet_set_backend(other, "remote:0"));
    assert_ok(other, collet_op_add(other, d, a, a));
    assert_floats(other, d, doubled);
}

/* Failed work that only read an array does not make the next write of the array fail. */
TEST_WITH(failed_readers_do_not_invalidate, NULL, tear_down)
{
    open_remote("remote.fail=1", NULL, "remote:0");
    OWNED(collet_context) *other = context_of(rt);
    assert_ok(other, collet_set_backend(other, "remote:0"));
    OWNED(collet_array) *a = floats(cx, 4, 1), *b = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_status(cx, collet_finish(cx), COLLET_FAILED);
    assert_ok(other, collet_op_add(other, a, b, b));
    assert_floats(other, a, doubled);
}

/* A lost device is not read if the host or another device has valid bytes. */
TEST_WITH(bytes_elsewhere_survive_their_device, NULL, tear_down)
{
    const int64_t two[] = {2, 2};
    const float transposed[] = {1, 3, 2, 4};
    OWNED(collet_array) *square = NULL, *view = NULL;
    float sink[4];
    open_remote("remote.lose=1", NULL, "remote:0");
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    assert_ok(cx, collet_array_reshape(cx, a, &square, 2, two));
    assert_ok(cx, collet_array_permute(cx, square, &view, NULL));
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_status(cx, collet_finish(cx), COLLET_DEVICE_LOST);
    assert_floats(cx, view, transposed);
    assert_status(cx, collet_array_read(cx, c, sink, sizeof sink), COLLET_DEVICE_LOST);
    assert_ok(cx, collet_array_write(cx, c, doubled, sizeof doubled));
    assert_floats(cx, c, doubled);
}

/* The device reports its loss during an upload. Later calls do not use the device. */
TEST_WITH(a_loss_during_a_transfer, NULL, tear_down)
{
    collet_status status = COLLET_OK;
    open_remote("remote.lose=1", NULL, "remote:0");
    OWNED(collet_context) *other = context_of(rt);
    assert_ok(other, collet_set_backend(other, "remote:0,cpu_scalar"));
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, c, a, a));
    usleep(50000);
    for (int i = 0; i < 100 && status == COLLET_OK; i++) {
        OWNED(collet_array) *e = floats(other, 4, 1), *f = empty_floats(other, 4);
        status = collet_op_add(other, f, e, e);
    }
    assert_status(other, status, COLLET_DEVICE_LOST);
    OWNED(collet_array) *e = floats(other, 4, 1), *f = empty_floats(other, 4);
    assert_ok(other, collet_op_add(other, f, e, e));
    assert_string_equal(collet_last_backend(other), "cpu_scalar");
    assert_floats(other, f, doubled);
}

TEST_WITH(a_device_that_does_not_open_is_tried_once, NULL, tear_down)
{
    open_remote("remote.closed=1", "plugin_deny=nobody", NULL);
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    assert_status(cx, collet_set_backend(cx, "remote"), COLLET_UNAVAILABLE,
                  "remote.closed is set: 100 %s");
    assert_status(cx, collet_set_backend(cx, "remote"), COLLET_UNAVAILABLE,
                  "remote.closed is set: 100 %s");
    assert_true(opened == 1 && closed == 1);
}

/* "The text of the context's last failure" excludes a failure that a fallback handled. */
TEST_WITH(success_keeps_the_last_error, NULL, tear_down)
{
    open_remote("remote.refuse=1", NULL, "remote,cpu_scalar");
    OWNED(collet_array) *a = floats(cx, 4, 1), *b = floats(cx, 3, 1), *c = empty_floats(cx, 4);
    assert_string_equal(collet_last_error(cx), "");
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_int_equal(counters_of(cx).fallbacks, 1);
    assert_string_equal(collet_last_error(cx), "");
    assert_int_equal(collet_last_status(cx), COLLET_OK);
    assert_status(cx, collet_op_add(cx, c, a, b), COLLET_SHAPE);
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_text_has(cx, "b (input 1) is 3");
}

/* The status REFUSED of a backend takes precedence over a missing kernel in the next backend. */
TEST_WITH(the_most_specific_failure_is_reported, NULL, tear_down)
{
    open_remote("remote.memory=8", NULL, "remote:1,cpu_scalar");
    uint32_t plus = 0;
    assert_int_equal(collet_ops_find(rt, &plus, "remote.plus", NULL), COLLET_OK);
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    const collet_array *ins[] = {a, a};
    assert_status(cx, collet_call(cx, plus, &c, ins, NULL), COLLET_REFUSED,
                  "remote.plus on remote:1");
}

TEST_WITH(a_kernel_has_four_statuses, NULL, tear_down)
{
    open_remote("remote.status=3", NULL, "remote");
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4);
    assert_status(cx, collet_op_add(cx, c, a, a), COLLET_FAILED, "returned COLLET_DTYPE (3)");
}

/* A strided read of bytes that are valid on the host needs no device memory. */
TEST_WITH(reading_needs_no_device_memory, NULL, tear_down)
{
    const int64_t two[] = {2, 2};
    const float transposed[] = {1, 3, 2, 4};
    OWNED(collet_array) *square = NULL, *view = NULL;
    open_remote("remote.memory=8", NULL, "remote");
    OWNED(collet_array) *a = floats(cx, 4, 1);
    assert_ok(cx, collet_array_reshape(cx, a, &square, 2, two));
    assert_ok(cx, collet_array_permute(cx, square, &view, NULL));
    assert_floats(cx, view, transposed);
}

/* "auto" prefers the device that holds the bytes to its first choice only if the bytes are not valid on
 * the host. */
TEST_WITH(auto_ignores_bytes_valid_on_the_host, NULL, tear_down)
{
    open_remote("remote.apart=0", NULL, "remote:1");
    OWNED(collet_array) *a = floats(cx, 4, 1), *c = empty_floats(cx, 4), *d = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, c, a, a));
    assert_ok(cx, collet_set_backend(cx, "auto"));
    assert_ok(cx, collet_op_add(cx, d, a, a));
    assert_string_equal(collet_last_backend(cx), "cpu_scalar");
    assert_ok(cx, collet_op_add(cx, d, c, a));
    assert_string_equal(collet_last_backend(cx), "remote");
}

/* Computes on the remote device into an array over `memory`, and destroys the array without acquiring it. */
static void free_wrapped(float memory[4])
{
    const int64_t four = 4;
    OWNED(collet_array) *a = floats(cx, 4, 1), *w = NULL;
    assert_ok(cx, collet_array_wrap(cx, &w, COLLET_F32, 1, &four, NULL, memory, 0, NULL, NULL));
    assert_ok(cx, collet_op_add(cx, w, a, a));
}

TEST_WITH(wrapped_memory_that_cannot_be_copied_is_logged, NULL, tear_down)
{
    float memory[4] = {0};
    open_remote(NULL, NULL, "remote");
    free_wrapped(memory);
    assert_memory_equal(memory, doubled, sizeof memory);
    assert_string_equal(not_copied, "");
    close_shared();
    static const char *const faults[] = {"remote.fail=1", "remote.lose=1"};
    for (int i = 0; i < 2; i++) {
        open_remote(faults[i], NULL, "remote:0");
        free_wrapped(memory);
        assert_contains(not_copied, "a wrapped array was destroyed, and its 16 bytes at");
        close_shared();
    }
}
