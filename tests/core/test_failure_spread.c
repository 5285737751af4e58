/* SPDX-License-Identifier: Apache-2.0 */
/* Results that derive from failed work count as failed, across queues, contexts and devices, until
 * they are overwritten. See also test_failure_model.c. */
#include <inttypes.h>

#include "common/fixture.h"
#include "fakes/remote/control.h"

static const float doubled[] = {2, 4, 6, 8};

static void open_remote(const char *first, const char *second)
{
    const char *const settings[] = {first, second, NULL};
    open_shared(REMOTE_PLUGIN, settings, "remote:0");
}

static collet_context *context_on(const char *backend)
{
    collet_context *made = context_of(rt);
    assert_ok(made, collet_set_backend(made, backend));
    return made;
}

static void assert_unreadable(collet_context *reader, const collet_array *a, collet_status status)
{
    float sink[4];
    assert_status(reader, collet_array_read(reader, a, sink, sizeof sink), status);
}

/* Work of `cx` has failed, and the context `by` has computed y from its result. libcore does not know
 * of the failure yet. */
static void assert_derived(collet_context *by, collet_array *y, collet_status status)
{
    OWNED(collet_array) *z = empty_floats(by, 4);
    assert_ok(by, collet_op_copy(by, z, y));
    assert_status(by, collet_finish(by), status);
    assert_ok(by, collet_finish(by));
    assert_unreadable(by, y, status);
    assert_unreadable(by, z, status);
    assert_status(cx, collet_finish(cx), status);
    assert_unreadable(by, y, status);
    assert_status(by, collet_op_copy(by, z, y), status);
    assert_ok(by, collet_array_write(by, y, doubled, sizeof doubled));
    assert_ok(by, collet_op_copy(by, z, y));
    assert_string_equal(collet_last_backend(by), "remote");
    assert_floats(by, z, doubled);
}

/* Call 4 of device 0, x = a + a, fails after another context has computed y = x + x. */
static void another_context(const char *setting, const char *backend, collet_status status)
{
    /* The delay lets the calls below begin before libcore knows that the device is lost. libcore would not copy from
     * a lost device. */
    open_remote(setting, status == COLLET_DEVICE_LOST ? "remote.delay_us=50000" : NULL);
    OWNED(collet_context) *other = context_on(backend);
    OWNED(collet_array) *a = floats(cx, 4, 1), *x = empty_floats(cx, 4), *y = empty_floats(cx, 4);
    for (int i = 0; i < 4; i++)
        assert_ok(cx, collet_op_add(cx, x, a, a));
    assert_ok(other, collet_op_add(other, y, x, x));
    assert_int_equal(counters_of(other).bytes_to_device, 0);
    assert_derived(other, y, status);
}

TEST_WITH(failure_reaches_another_context, NULL, tear_down)
{
    another_context("remote.fail=4", "remote:0", COLLET_FAILED);
}

TEST_WITH(failure_reaches_another_device, NULL, tear_down)
{
    another_context("remote.fail=4", "remote:1", COLLET_FAILED);
}

TEST_WITH(loss_reaches_another_device, NULL, tear_down)
{
    another_context("remote.lose=4", "remote:1", COLLET_DEVICE_LOST);
}

/* One context changes its backend and uses a failed result on the new backend. */
TEST_WITH(failure_reaches_the_next_backend, NULL, tear_down)
{
    open_remote("remote.fail=2", NULL);
    OWNED(collet_array) *a = floats(cx, 4, 1), *x = empty_floats(cx, 4), *y = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, y, a, a));
    assert_ok(cx, collet_op_add(cx, x, a, a));
    assert_ok(cx, collet_set_backend(cx, "remote:1"));
    assert_ok(cx, collet_op_add(cx, y, x, x));
    assert_unreadable(cx, y, COLLET_FAILED);
    assert_status(cx, collet_finish(cx), COLLET_FAILED);
    assert_ok(cx, collet_finish(cx));
    assert_unreadable(cx, y, COLLET_FAILED);
}

/* A failed array stays failed if only a part of it is overwritten. It is valid again once the whole array is
 * overwritten. */
TEST_WITH(failure_stays_beside_a_partial_write, NULL, tear_down)
{
    open_remote("remote.fail=2,3", NULL);
    OWNED(collet_context) *other = context_on("remote:0");
    OWNED(collet_array) *a = floats(cx, 4, 1), *b = floats(cx, 2, 9), *part = NULL;
    OWNED(collet_array) *x = empty_floats(cx, 4), *y = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, x, a, a));
    assert_ok(cx, collet_finish(cx));
    assert_ok(cx, collet_op_add(cx, x, a, a));
    assert_ok(cx, collet_op_add(cx, y, a, a));
    assert_ok(other, collet_op_add(other, y, a, a));
    assert_ok(other, collet_finish(other));
    assert_ok(other, collet_array_slice(other, x, &part, 0, 1, 2, 1));
    assert_ok(other, collet_op_copy(other, part, b));
    assert_status(other, collet_finish(other), COLLET_FAILED);
    assert_unreadable(other, x, COLLET_FAILED);
    assert_floats(other, y, doubled);
}

/* Sums results from more queues than libcore records for an array. At most one of the queues has failed. */
TEST(failure_of_any_of_many_queues)
{
    const int queues = 12;
    for (int bad = 0; bad <= queues; bad++) {
        char setting[32];
        collet_context *others[12];
        float expected[4];
        snprintf(setting, sizeof setting, "remote.fail=%d", bad);
        open_remote(setting, NULL);
        collet_array *a[12], *x[12], *sum = floats(cx, 4, 0);
        for (int i = 0; i < queues; i++) {
            others[i] = context_on("remote:0");
            a[i] = floats(cx, 4, 1);
            x[i] = empty_floats(cx, 4);
            assert_ok(others[i], collet_op_copy(others[i], x[i], a[i]));
        }
        for (int i = 0; i < queues; i++) {
            collet_status status = collet_op_add(cx, sum, sum, x[i]);
            assert_true(status == COLLET_OK || (bad && status == COLLET_FAILED));
        }
        for (int i = 0; i < 4; i++)
            expected[i] = (float)(i + queues * (1 + i));
        if (bad)
            assert_unreadable(cx, sum, COLLET_FAILED);
        else
            assert_floats(cx, sum, expected);
        assert_status(cx, collet_finish(cx), bad ? COLLET_FAILED : COLLET_OK);
        for (int i = 0; i < queues; i++) {
            collet_context_destroy(others[i]);
            collet_array_destroy(a[i]);
            collet_array_destroy(x[i]);
        }
        collet_array_destroy(sum);
        close_shared();
    }
}

/* After a call has checked its inputs, and before it enqueues its work in a queue, another thread may
 * find a failure in that queue. The result of the call must then count as failed. */
static collet_context *reader;
static collet_array *failed;
static int kernels;

static collet_status first_kernel_fails(remote_control *control, remote_command *c)
{
    return c->kernel && ++kernels == 1 ? COLLET_FAILED : COLLET_OK;
}

static void read_failed(remote_control *control, uint64_t queue, uint64_t value,
                        collet_status status)
{
    collet_context *by = reader;
    reader = NULL;
    if (by)
        assert_unreadable(by, failed, COLLET_FAILED);
}

/* `enqueued_by` is the context of the failed work. */
static void found_during_a_call(const char *enqueued_by)
{
    char setting[48];
    /* Closing the runtime waits too. */
    static remote_control control = {.enqueued = first_kernel_fails, .waited = read_failed};
    snprintf(setting, sizeof setting, "remote.control=%" PRIxPTR, (uintptr_t)&control);
    kernels = 0;
    open_remote(setting, "remote.apart=1");
    collet_context *other = context_on("remote:0"), *third = context_on("remote:1");
    collet_array *a = floats(cx, 4, 1), *b = empty_floats(cx, 4), *y = empty_floats(cx, 4);
    collet_context *by = strcmp(enqueued_by, "cx") ? other : cx;
    failed = empty_floats(cx, 4);
    assert_ok(by, collet_op_add(by, failed, a, a));
    assert_ok(third, collet_op_add(third, b, a, a));
    reader = context_of(rt);
    collet_context *fourth = reader;
    /* The call waits for b. During this wait read_failed reads `failed`. */
    assert_ok(cx, collet_op_add(cx, y, failed, b));
    assert_null(reader);
    assert_unreadable(cx, y, COLLET_FAILED);
    assert_status(cx, collet_finish(cx), COLLET_FAILED);
    assert_floats(cx, b, doubled);
    collet_context_destroy(other);
    collet_context_destroy(third);
    collet_context_destroy(fourth);
    collet_array_destroy(a);
    collet_array_destroy(b);
    collet_array_destroy(y);
    collet_array_destroy(failed);
}

TEST_WITH(failure_found_during_a_call, NULL, tear_down)
{
    found_during_a_call("cx");
    close_shared();
    found_during_a_call("other");
}
