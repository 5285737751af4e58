/* SPDX-License-Identifier: Apache-2.0 */
/* Timestamps by two clocks: the host's clock, and the clock of the test backend, which advances only during kernels. */
#include <stdatomic.h>

#include "common/support.h"
#include "fakes/remote/control.h"

#define ALL REMOTE_PLUGIN ":" SCALAR_PLUGIN
#define KERNEL 1000   /* time of a kernel by the test backend's clock, in nanoseconds */
#define DELAY 5000000 /* minimum time of a kernel by the host's clock, in nanoseconds */

static remote_control control;
static _Atomic int waits;
static int waits_taking; /* of collet_timestamp_take */

static collet_status enqueued(remote_control *c, remote_command *command)
{
    return COLLET_OK;
}

static void waited(remote_control *c, uint64_t queue, uint64_t value, collet_status status)
{
    waits++;
}

static world open_timed(const char *setting, const char *backend)
{
    char watched[64];
    const char *settings[] = {"remote.delay_us=5000", "remote.kernel_ns=1000", watched, setting,
                              NULL};
    control = (remote_control){.enqueued = enqueued, .waited = waited};
    snprintf(watched, sizeof watched, "remote.control=%llx",
             (unsigned long long)(uintptr_t)&control);
    return open_world(ALL, settings, backend);
}

static void close_timed(world w)
{
    close_world(w);
    assert_int_equal(control.stamps, 0);
}

static collet_timestamp *take(collet_context *cx, const char *device)
{
    collet_timestamp *t = NULL;
    int before = waits;
    assert_ok(cx, collet_timestamp_take(cx, &t, device));
    assert_non_null(t);
    waits_taking += waits - before;
    return t;
}

static int64_t elapsed(collet_context *cx, const collet_timestamp *first,
                       const collet_timestamp *last, int32_t clock)
{
    int64_t nanoseconds = -1;
    int32_t by = 0;
    assert_ok(cx, collet_timestamp_elapsed(cx, first, last, &nanoseconds, &by));
    assert_int_equal(by, clock);
    return nanoseconds;
}

/* Takes a timestamp before `n` additions and another after them. */
static void measure(collet_context *cx, const char *device, int n, collet_timestamp **times)
{
    OWNED(collet_array) *a = floats(cx, 4, 1), *b = empty_floats(cx, 4);
    assert_ok(cx, collet_op_add(cx, b, a, a));
    times[0] = take(cx, device);
    for (int i = 0; i < n; i++)
        assert_ok(cx, collet_op_add(cx, b, a, a));
    times[1] = take(cx, device);
}

static void free_both(collet_timestamp **times)
{
    collet_timestamp_destroy(times[0]);
    collet_timestamp_destroy(times[1]);
}

TEST(device_clock)
{
    collet_timestamp *t[2], *again;
    int64_t nanoseconds;
    world w = open_timed(NULL, "remote:0");
    waits_taking = 0;
    measure(w.cx, NULL, 3, t);
    assert_int_equal(waits_taking, 0);
    assert_int_equal(elapsed(w.cx, t[0], t[1], COLLET_CLOCK_DEVICE), 3 * KERNEL);
    assert_int_equal(elapsed(w.cx, t[1], t[0], COLLET_CLOCK_DEVICE), -3 * KERNEL);
    assert_int_equal(elapsed(w.cx, t[0], t[0], COLLET_CLOCK_DEVICE), 0);
    assert_ok(w.cx, collet_timestamp_elapsed(w.cx, t[0], t[1], &nanoseconds, NULL));
    /* Another context's queue. */
    collet_context *other = context_of(w.rt);
    again = take(other, "remote:0");
    assert_int_equal(elapsed(other, t[0], again, COLLET_CLOCK_DEVICE), 3 * KERNEL);
    collet_context_destroy(other);
    assert_int_equal(elapsed(w.cx, t[0], again, COLLET_CLOCK_DEVICE), 3 * KERNEL);
    assert_int_equal(control.stamps, 3);
    collet_timestamp_destroy(again);
    free_both(t);
    collet_timestamp_destroy(NULL);
    close_timed(w);
}

/* If a device lacks the extension collet.timing/1, libcore waits for it and uses the host's
 * clock. */
TEST(host_clock)
{
    collet_timestamp *t[2];
    world w = open_timed("remote.extension=collet.timing/1 absent", "remote:0");
    waits_taking = 0;
    measure(w.cx, "remote:0", 2, t);
    assert_true(waits_taking > 0);
    assert_true(elapsed(w.cx, t[0], t[1], COLLET_CLOCK_HOST) >= 2 * DELAY);
    free_both(t);
    assert_ok(w.cx, collet_set_backend(w.cx, "cpu_scalar"));
    measure(w.cx, NULL, 2, t);
    assert_true(elapsed(w.cx, t[0], t[1], COLLET_CLOCK_HOST) > 0);
    free_both(t);
    measure(w.cx, "host", 2, t);
    assert_true(elapsed(w.cx, t[0], t[1], COLLET_CLOCK_HOST) > 0);
    assert_true(elapsed(w.cx, t[1], t[0], COLLET_CLOCK_HOST) < 0);
    free_both(t);
    close_timed(w);
}

/* A timestamp keeps its device open, and does not need its context. */
TEST(outlives)
{
    collet_timestamp *t[2];
    world w = open_timed(NULL, "remote:0");
    measure(w.cx, NULL, 1, t);
    close_world(w);
    assert_int_equal(control.stamps, 2);
    free_both(t);
    assert_int_equal(control.stamps, 0);
}

TEST(failures)
{
    collet_timestamp *t[2], *late;
    int64_t nanoseconds = 7;
    world w = open_world(ALL, (const char *[]){"remote.fail=3", "remote.kernel_ns=1000", NULL},
                         "remote:0");
    measure(w.cx, NULL, 1, t);
    collet_array *a = floats(w.cx, 4, 1), *b = empty_floats(w.cx, 4);
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    late = take(w.cx, NULL);
    assert_status(w.cx, collet_timestamp_elapsed(w.cx, t[0], late, &nanoseconds, NULL),
                  COLLET_FAILED, "work on remote:0 before a timestamp failed: the kernel of op");
    assert_int_equal(nanoseconds, 7);
    assert_int_equal(elapsed(w.cx, t[0], t[1], COLLET_CLOCK_DEVICE), KERNEL);
    assert_status(w.cx, collet_finish(w.cx), COLLET_FAILED);
    collet_timestamp_destroy(late);
    /* The queue was replaced. */
    late = take(w.cx, NULL);
    assert_int_equal(elapsed(w.cx, t[1], late, COLLET_CLOCK_DEVICE), KERNEL);
    collet_timestamp_destroy(late);
    free_both(t);
    collet_array_destroy(a);
    collet_array_destroy(b);
    close_world(w);
}

TEST(lost)
{
    collet_timestamp *t[2], *late = NULL;
    int64_t nanoseconds = 7;
    world w = open_world(ALL, (const char *[]){"remote.lose=3", NULL}, "remote:0");
    measure(w.cx, NULL, 1, t);
    collet_array *a = floats(w.cx, 4, 1), *b = empty_floats(w.cx, 4);
    collet_status status = collet_op_add(w.cx, b, a, a);
    if (status == COLLET_OK)
        status = collet_finish(w.cx);
    assert_status(w.cx, status, COLLET_DEVICE_LOST);
    assert_status(w.cx, collet_timestamp_take(w.cx, &late, NULL), COLLET_DEVICE_LOST);
    assert_null(late);
    status = collet_timestamp_elapsed(w.cx, t[0], t[1], &nanoseconds, NULL);
    assert_true(status == COLLET_OK ? nanoseconds == KERNEL : status == COLLET_DEVICE_LOST);
    free_both(t);
    collet_array_destroy(a);
    collet_array_destroy(b);
    close_world(w);
}

TEST(invalid)
{
    collet_timestamp *t[2], *none = NULL;
    int64_t ns = 7;
    world w = open_timed(NULL, "remote:0"), v = open_timed(NULL, "remote:0");
    collet_context *cx = w.cx;
    t[0] = take(cx, NULL);
    t[1] = take(cx, "remote:1");
    assert_status(cx, collet_timestamp_take(cx, NULL, NULL), COLLET_INVALID);
    assert_status(cx, collet_timestamp_take(cx, &none, "auto"), COLLET_INVALID);
    assert_status(cx, collet_timestamp_take(cx, &none, "remote:0,remote:1"), COLLET_INVALID);
    assert_status(cx, collet_timestamp_take(cx, &none, "remto"), COLLET_UNKNOWN_BACKEND);
    assert_status(cx, collet_timestamp_elapsed(cx, t[0], t[1], &ns, NULL), COLLET_INVALID,
                  "the timestamps are of different devices, remote:0 and remote:1");
    assert_status(cx, collet_timestamp_elapsed(cx, NULL, t[1], &ns, NULL), COLLET_INVALID,
                  "first is NULL");
    assert_status(cx, collet_timestamp_elapsed(cx, t[1], NULL, &ns, NULL), COLLET_INVALID);
    assert_status(cx, collet_timestamp_elapsed(cx, t[1], t[1], NULL, NULL), COLLET_INVALID);
    assert_status(v.cx, collet_timestamp_elapsed(v.cx, t[1], t[1], &ns, NULL), COLLET_INVALID,
                  "another runtime");
    assert_null(none);
    assert_int_equal(ns, 7);
    free_both(t);
    close_world(v);
    close_timed(w);
}

int main(void)
{
    without_trace();
    return test_run();
}
