/* SPDX-License-Identifier: Apache-2.0 */
/* A queue that failed may have skipped its waits, so libcore must not order other queues through
 * it. Memory that commands of a lost device use is kept. To make the tests independent of speed, gates
 * block queues. While a gate is closed, a command that wrongly does not wait for the gate has time to
 * run. */
#include <pthread.h>

#include "common/fixture.h"
#include "fakes/remote/control.h"

#define N 4
#define CONTEXTS 12 /* more than the number of uses that libcore records for a block */

static const float ones[] = {1, 1, 1, 1}, threes[] = {3, 3, 3, 3};
static collet_context *contexts[CONTEXTS];
static int fails, loses; /* the next kernel */

static collet_status enqueued(remote_control *unused, remote_command *c)
{
    collet_status status = !c->kernel ? COLLET_OK
                           : loses    ? COLLET_DEVICE_LOST
                           : fails    ? COLLET_FAILED
                                      : COLLET_OK;
    if (c->kernel)
        fails = loses = 0;
    return status;
}

static void waited(remote_control *unused, uint64_t queue, uint64_t value, collet_status status)
{
}

static remote_control control = {.enqueued = enqueued, .waited = waited};

/* ---- Gates ------------------------------------------------------------------------------- */

typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t opens;
    int open;
} gate;

static void pass(void *user)
{
    gate *g = user;
    pthread_mutex_lock(&g->lock);
    while (!g->open)
        pthread_cond_wait(&g->opens, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void close_gate_on(gate *g, collet_context *in, const char *device)
{
    void *handle = NULL;
    *g = (gate){PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    assert_ok(in, collet_native_queue(in, &handle, device));
    remote_native_queue *queue = handle;
    queue->enqueue(queue, pass, g);
}

static void close_gate(gate *g, collet_context *in)
{
    close_gate_on(g, in, "remote:0");
}

static void open_gate(gate *g)
{
    usleep(20000);
    pthread_mutex_lock(&g->lock);
    g->open = 1;
    pthread_cond_broadcast(&g->opens);
    pthread_mutex_unlock(&g->lock);
}

/* ---- Failures ---------------------------------------------------------------------------- */

static void open_failing(int after_failure)
{
    char where[48];
    const char *const settings[] = {where, NULL};
    snprintf(where, sizeof where, "remote.control=%llx", (unsigned long long)(uintptr_t)&control);
    atomic_store(&control.serial, 0);
    control.after_failure = after_failure;
    fails = 0;
    open_shared(REMOTE_PLUGIN, settings, "remote:0");
    for (int i = 0; i < CONTEXTS; i++) {
        contexts[i] = context_of(rt);
        assert_ok(contexts[i], collet_set_backend(contexts[i], "remote:0"));
    }
}

static void close_failing(void)
{
    for (int i = 0; i < CONTEXTS; i++)
        collet_context_destroy(contexts[i]);
    close_shared();
}

static void fill(collet_context *in, collet_array *a, float value)
{
    const collet_scalar s = {.dtype = COLLET_F32, .value.f32 = value};
    assert_ok(in, collet_op_fill(in, a, &s));
}

/* An array whose elements are on the device. */
static collet_array *on_device(float value)
{
    collet_array *a = empty_floats(cx, N);
    fill(cx, a, value);
    assert_ok(cx, collet_finish(cx));
    return a;
}

static void fail_next(collet_context *in)
{
    OWNED(collet_array) *a = on_device(0);
    fails = 1;
    fill(in, a, 5);
}

/* A slow queue reads X, then a queue that fails writes X, then a third queue writes X. The third
 * queue must wait for the read too, not only for the second queue's write. */
static void read_before(int after_failure)
{
    gate g;
    open_failing(after_failure);
    collet_array *x = on_device(1), *out = on_device(0);
    close_gate(&g, contexts[0]);
    assert_ok(contexts[0], collet_op_copy(contexts[0], out, x));
    fail_next(contexts[1]);
    fill(contexts[1], x, 2);
    fill(contexts[2], x, 3);
    open_gate(&g);
    assert_floats(contexts[0], out, ones);
    assert_ok(contexts[0], collet_finish(contexts[0]));
    assert_ok(contexts[2], collet_finish(contexts[2]));
    assert_status(contexts[1], collet_finish(contexts[1]), COLLET_FAILED);
    assert_floats(contexts[2], x, threes);
    collet_array_destroy(x);
    collet_array_destroy(out);
    close_failing();
}

TEST(a_failed_queue_carries_no_order)
{
    for (int mode = REMOTE_GOES_ON; mode <= REMOTE_SKIPS; mode++)
        read_before(mode);
}

/* Like read_before, but the slow queue writes X instead of reading it. */
TEST(nor_between_writes)
{
    gate g;
    open_failing(REMOTE_SKIPS);
    collet_array *x = on_device(0);
    close_gate(&g, contexts[0]);
    fill(contexts[0], x, 1);
    fail_next(contexts[1]);
    fill(contexts[1], x, 2);
    fill(contexts[2], x, 3);
    open_gate(&g);
    assert_ok(contexts[0], collet_finish(contexts[0]));
    assert_floats(contexts[2], x, threes);
    collet_array_destroy(x);
    close_failing();
}

/* The failed queue is replaced, and its context uses X again: the next write in the new queue waits
 * for the read, too. */
TEST(nor_once_it_is_replaced)
{
    gate g;
    open_failing(REMOTE_SKIPS);
    collet_array *x = on_device(1), *out = on_device(0);
    close_gate(&g, contexts[0]);
    assert_ok(contexts[0], collet_op_copy(contexts[0], out, x));
    fail_next(contexts[1]);
    fill(contexts[1], x, 2);
    assert_status(contexts[1], collet_finish(contexts[1]), COLLET_FAILED);
    fill(contexts[1], x, 3);
    open_gate(&g);
    assert_floats(contexts[0], out, ones);
    assert_floats(contexts[1], x, threes);
    collet_array_destroy(x);
    collet_array_destroy(out);
    close_failing();
}

/* The memory of X is neither freed (the test backend would abort) nor reused. */
TEST(freed_memory_is_kept)
{
    gate g;
    open_failing(REMOTE_SKIPS);
    collet_array *x = on_device(1), *out = on_device(0);
    close_gate(&g, contexts[0]);
    assert_ok(contexts[0], collet_op_copy(contexts[0], out, x));
    fail_next(contexts[1]);
    fill(contexts[1], x, 2);
    assert_status(contexts[1], collet_finish(contexts[1]), COLLET_FAILED);
    collet_array_destroy(x);
    assert_ok(contexts[1], collet_finish(contexts[1]));
    collet_array *y = empty_floats(contexts[1], N);
    fill(contexts[1], y, 3);
    assert_ok(contexts[1], collet_finish(contexts[1]));
    open_gate(&g);
    assert_floats(contexts[0], out, ones);
    assert_floats(contexts[1], y, threes);
    collet_array_destroy(y);
    collet_array_destroy(out);
    close_failing();
}

/* A block is used by more queues than libcore can record for a block: the host waits until one of these uses ends. */
TEST(many_queues)
{
    gate g;
    collet_array *out[CONTEXTS];
    open_failing(REMOTE_SKIPS);
    collet_array *x = on_device(1);
    for (int i = 2; i < CONTEXTS; i++) {
        out[i] = on_device(0);
        if (i == CONTEXTS - 1)
            close_gate(&g, contexts[i]);
        assert_ok(contexts[i], collet_op_copy(contexts[i], out[i], x));
    }
    fail_next(contexts[1]);
    fill(contexts[1], x, 2);
    fill(contexts[0], x, 3);
    open_gate(&g);
    for (int i = 2; i < CONTEXTS; i++) {
        assert_floats(contexts[i], out[i], ones);
        collet_array_destroy(out[i]);
    }
    assert_floats(contexts[0], x, threes);
    collet_array_destroy(x);
    close_failing();
}

/* A direct copy reads X in a queue of the target device. The source device's queue for copies waits
 * for that read. */
TEST(copies_between_devices)
{
    gate g;
    open_failing(REMOTE_SKIPS);
    collet_array *x = on_device(1), *out = on_device(0);
    assert_ok(contexts[0], collet_set_backend(contexts[0], "remote:1"));
    collet_array *there = empty_floats(contexts[0], N);
    fill(contexts[0], there, 0);
    close_gate_on(&g, contexts[0], "remote:1");
    assert_ok(contexts[0], collet_op_copy(contexts[0], there, x));
    fail_next(contexts[1]);
    fill(contexts[1], x, 2);
    fill(contexts[2], x, 3);
    open_gate(&g);
    assert_floats(contexts[0], there, ones);
    assert_floats(contexts[2], x, threes);
    assert_true(counters_of(contexts[0]).bytes_direct > 0);
    collet_array_destroy(x);
    collet_array_destroy(out);
    collet_array_destroy(there);
    close_failing();
}

/* ---- Lost devices ------------------------------------------------------------------------ */

/* A kernel in the context `in` loses the device. When this function returns, libcore knows that the device is lost. */
static void lose(collet_context *in)
{
    OWNED(collet_array) *a = empty_floats(in, N);
    const collet_scalar s = {.dtype = COLLET_F32, .value.f32 = 1};
    loses = 1;
    collet_status status = collet_op_fill(in, a, &s);
    if (status == COLLET_OK)
        status = collet_finish(in);
    assert_status(in, status, COLLET_DEVICE_LOST);
}

/* The test backend aborts if a timestamp is released before the command that sets it has run. */
TEST(a_stamp_at_work_is_kept)
{
    gate g;
    collet_timestamp *t = NULL;
    open_failing(REMOTE_GOES_ON);
    close_gate(&g, cx);
    assert_ok(cx, collet_timestamp_take(cx, &t, "remote:0"));
    lose(contexts[0]);
    collet_timestamp_destroy(t);
    assert_int_equal(control.stamps, 1);
    open_gate(&g);
    close_failing();
    assert_int_equal(control.stamps, 0);
}

static void note(void *user)
{
    *(int *)user += 1;
}

/* The program's own memory on a lost device: its deleter is called only when the runtime is
 * closed. */
TEST(foreign_memory_at_work_is_kept)
{
    gate g;
    static float memory[N];
    int deleted = 0;
    const int64_t n = N;
    collet_array *x = NULL, *y;
    open_failing(REMOTE_GOES_ON);
    y = on_device(0);
    assert_ok(cx, collet_array_wrap_on(cx, &x, "remote:0", COLLET_F32, 1, &n, NULL, memory, 0, 0,
                                       note, &deleted));
    close_gate(&g, cx);
    assert_ok(cx, collet_op_copy(cx, y, x));
    lose(contexts[0]);
    collet_array_destroy(x);
    assert_int_equal(deleted, 0);
    open_gate(&g);
    collet_array_destroy(y);
    close_failing();
    assert_int_equal(deleted, 1);
}

int main(void)
{
    without_trace();
    return test_run();
}
