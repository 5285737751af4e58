/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of the process. exit() runs libcore's handler before the handlers that were registered
 * when a device was opened. libcore's handler waits for the device's work, for a limited time, and
 * lets no new work begin. A child of fork does not wait for its parent's work.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "common/fixture.h"
#include "fakes/remote/control.h"

#define N 4
#define SLOW 300000 /* microseconds */
#define LATE 90     /* exit statuses of children */
#define BEGUN 91
#define FAILED 92

static atomic_int enqueued_commands, waited_commands, delay_us;
static int handler_ran;
static const char *type = "remote.type=accelerator";

static collet_status enqueued(remote_control *unused, remote_command *c)
{
    c->delay_us = atomic_load(&delay_us);
    atomic_fetch_add(&enqueued_commands, 1);
    return COLLET_OK;
}

static void waited(remote_control *unused, uint64_t queue, uint64_t value, collet_status status)
{
    atomic_fetch_add(&waited_commands, status == COLLET_OK);
}

static remote_control control = {.enqueued = enqueued, .waited = waited};

static void open_remote(void)
{
    char where[48];
    const char *const settings[] = {where, type, NULL};
    snprintf(where, sizeof where, "remote.control=%llx", (unsigned long long)(uintptr_t)&control);
    atomic_store(&control.serial, 0);
    open_shared(REMOTE_PLUGIN, settings, "remote:0");
}

static void fill(collet_context *in, collet_array *a, float value)
{
    const collet_scalar s = {.dtype = COLLET_F32, .value.f32 = value};
    assert_ok(in, collet_op_fill(in, a, &s));
}

/* ---- In this process --------------------------------------------------------------------- */

TEST(nothing_begins_after_the_end)
{
    const collet_scalar one = {.dtype = COLLET_F32, .value.f32 = 1};
    collet_error err;
    float bytes[N];
    open_remote();
    collet_array *a = empty_floats(cx, N), *b = floats(cx, N, 0);
    atomic_store(&delay_us, SLOW);
    fill(cx, a, 1);
    assert_int_equal(collet_process_end(0, &err), COLLET_NOT_READY);
    assert_non_null(strstr(err.text, "did not finish its work within 0.0 s"));
    atomic_store(&delay_us, 0);
    int before = atomic_load(&enqueued_commands);
    assert_int_equal(collet_op_fill(cx, a, &one), COLLET_DEVICE_LOST);
    assert_non_null(strstr(collet_last_error(cx), "the process ends"));
    assert_int_equal(collet_array_read(cx, a, bytes, sizeof bytes), COLLET_DEVICE_LOST);
    assert_int_equal(atomic_load(&enqueued_commands), before);
    assert_floats(cx, b, (const float[]){0, 1, 2, 3});
    assert_int_equal(collet_process_end(0, &err), COLLET_OK); /* has ended */
    usleep(2 * SLOW);                                         /* the device is never closed */
    collet_array_destroy(a);
    collet_array_destroy(b);
    close_shared();
}

TEST(work_is_done_at_the_end)
{
    collet_error err;
    float bytes[N];
    open_remote();
    collet_array *a = empty_floats(cx, N);
    atomic_store(&delay_us, SLOW);
    fill(cx, a, 1);
    int before = atomic_load(&waited_commands);
    assert_int_equal(collet_process_end(INT64_MAX, &err), COLLET_OK);
    assert_int_equal(atomic_load(&waited_commands), before + 1);
    assert_int_equal(collet_array_read(cx, a, bytes, sizeof bytes), COLLET_DEVICE_LOST);
    assert_non_null(strstr(collet_last_error(cx), "read them before"));
    collet_array_destroy(a);
    close_shared();
    assert_int_equal(collet_process_end(-1, &err), COLLET_INVALID);
    atomic_store(&delay_us, 0);
    open_remote(); /* a later runtime works */
    a = empty_floats(cx, N);
    fill(cx, a, 2);
    assert_floats(cx, a, (const float[]){2, 2, 2, 2});
    collet_array_destroy(a);
    close_shared();
}

/* ---- In children ------------------------------------------------------------------------- */

/* Registered before the runtime is created, like the handlers of a driver's libraries. */
static void handler(void)
{
    if (!handler_ran++ && !atomic_load(&waited_commands))
        _exit(LATE);
    int before = atomic_load(&enqueued_commands);
    usleep(50000);
    if (atomic_load(&enqueued_commands) != before)
        _exit(BEGUN);
}

static void leave_work(void)
{
    collet_array *a = empty_floats(cx, N);
    atomic_store(&delay_us, SLOW);
    atomic_store(&waited_commands, 0);
    fill(cx, a, 1);
}

static void *leave(void *unused)
{
    exit(0);
}

static void by_exit(void)
{
    leave_work();
    exit(0);
}

static void by_another_thread(void)
{
    pthread_t thread;
    leave_work();
    pthread_create(&thread, NULL, leave, NULL);
    for (;;)
        pause();
}

static atomic_int keeping_on;

static void *keep_on(void *unused)
{
    collet_context *own = context_of(rt);
    collet_array *a = empty_floats(own, N);
    const collet_scalar s = {.dtype = COLLET_F32};
    assert_ok(own, collet_set_backend(own, "remote:0"));
    atomic_fetch_add(&keeping_on, 1);
    while (collet_op_fill(own, a, &s) == COLLET_OK)
        ;
    _exit(FAILED); /* like a program that treats the end of libcore as a failure */
}

static void while_others_compute(void)
{
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, keep_on, NULL);
    while (atomic_load(&keeping_on) < 3 || !atomic_load(&enqueued_commands))
        usleep(1000);
    usleep(20000);
    exit(0);
}

/* A handler that the program registers later still reads a result. */
static collet_array *wanted;
static void read_result(void)
{
    assert_floats(cx, wanted, (const float[]){1, 1, 1, 1});
}

static void by_a_later_handler(void)
{
    wanted = empty_floats(cx, N);
    fill(cx, wanted, 1);
    atexit(read_result);
    leave_work();
    exit(0);
}

/* A child does not wait for the parent's work, because the threads that would finish it do not exist in
 * the child. */
static void in_a_child(void)
{
    int status = -1;
    leave_work();
    pid_t child = fork();
    if (!child) {
        alarm(10);
        atomic_store(&waited_commands, 1);
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    exit(status == 0 ? 0 : 1);
}

/* Calls exit() during a call, as a signal handler may. */
static collet_status leave_within(remote_control *unused, remote_command *c)
{
    atomic_store(&waited_commands, 1);
    exit(0);
}

static void within_a_call(void)
{
    alarm(10);
    control.enqueued = leave_within;
    fill(cx, empty_floats(cx, N), 1);
}

TEST(every_end)
{
    static void (*const ends[])(void) = {
        by_exit,    by_another_thread, while_others_compute, by_a_later_handler,
        in_a_child, within_a_call};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int status = -1;
        fflush(NULL);
        pid_t child = fork();
        if (!child) {
            alarm(60);
            atexit(handler);
            atomic_store(&delay_us, 0);
            open_remote();
            ends[i]();
            _exit(1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        print_message("end %zu: status %d\n", i, status);
        assert_int_equal(status, 0);
    }
}

/* ---- fork -------------------------------------------------------------------------------- */

static int left_at_fork;

/* A pthread_atfork handler: it is registered first, so it runs after libcore's handler. */
static void note_work(void)
{
    left_at_fork = !atomic_load(&waited_commands);
}

static int work_left(const char *of)
{
    int status = -1;
    type = of;
    open_remote();
    leave_work();
    pid_t child = fork();
    if (!child)
        _exit(0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(collet_process_end(INT64_MAX, NULL), COLLET_OK);
    close_shared();
    return left_at_fork;
}

/* fork waits for the work of CPU backends, because one of their threads may hold the lock of the dynamic loader. In the
 * child this lock would stay locked for ever. */
TEST(fork_waits_for_a_processor)
{
    assert_int_equal(work_left("remote.type=cpu"), 0);
    assert_int_equal(work_left("remote.type=gpu"), 1);
}

int main(void)
{
    pthread_atfork(note_work, NULL, NULL);
    return test_run();
}
