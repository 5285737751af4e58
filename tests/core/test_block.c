/* SPDX-License-Identifier: Apache-2.0 */
/* libcore frees a device's memory only when no command can still use it: the test backend `remote`
 * aborts if memory is freed earlier. The amount of memory that waits to be freed is bounded. libcore
 * frees it when memory is short. */
#include <pthread.h>
#include <semaphore.h>

#include "common/support.h"
#include "fakes/remote/control.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN
#define N 64
#define BYTES (N * sizeof(float)) /* of an array */

static collet_memory_stats memory_of(collet_context *cx)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, &stats, "remote:0"));
    return stats;
}

static void assert_first(collet_context *cx, const collet_array *a, float first)
{
    float got[N];
    assert_ok(cx, collet_array_read(cx, a, got, sizeof got));
    assert_true(got[0] == first);
}

/* Each round uses half of the memory and frees it while its kernel still runs. In every other round
 * the arrays are smaller, so that they cannot reuse the same blocks. */
TEST(a_loop_that_frees_goes_on)
{
    static const char *const settings[] = {"remote.memory=1024", "remote.delay_us=100", NULL};
    OWNED(world) w = open_world(BOTH, settings, "remote:0,cpu_scalar");
    for (int i = 0; i < 3000; i++) {
        int64_t n = i % 2 ? N : N - 1;
        collet_array *a = floats(w.cx, n, 1), *c = empty_floats(w.cx, n);
        assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
        collet_array_destroy(a);
        if (i % 500 == 1)
            assert_first(w.cx, c, 2);
        collet_array_destroy(c);
    }
    assert_int_equal(counters_of(w.cx).fallbacks, 0);
    assert_ok(w.cx, collet_finish(w.cx));
    assert_int_equal(memory_of(w.cx).current, 0);
}

/* The queue that used freed memory can reuse it at once, even if its device hangs. */
TEST(a_queue_uses_its_memory_again)
{
    static const char *const settings[] = {"remote.hang=1", "timeout=1", NULL};
    OWNED(world) w = open_world(REMOTE_PLUGIN, settings, "remote:0");
    OWNED(collet_array) *a = floats(w.cx, N, 1);
    for (int i = 0; i < 4000; i++) {
        OWNED(collet_array) *c = empty_floats(w.cx, N);
        assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    }
    assert_int_equal(memory_of(w.cx).peak, 2 * BYTES);
}

/* The number of freed blocks that cannot be reused yet is bounded, even if memory is plentiful. */
TEST(retired_memory_is_bounded)
{
    static const char *const settings[] = {"remote.hang=1", "timeout=1", NULL};
    const collet_scalar one = {.dtype = COLLET_F32, .value.f32 = 1};
    collet_status status = COLLET_OK;
    int rounds = 0;
    OWNED(world) w = open_world(REMOTE_PLUGIN, settings, "remote:0");
    for (; rounds < 4000 && status == COLLET_OK; rounds++) {
        OWNED(collet_array) *c = empty_floats(w.cx, 1 + rounds);
        status = collet_op_fill(w.cx, c, &one);
    }
    assert_status(w.cx, status, COLLET_DEVICE_LOST);
    assert_true(rounds <= 1026);
}

/* Freeing an array does not wait for the array's kernel, which never ends here. A call for which there
 * is enough memory does not wait for it either. */
TEST(a_free_does_not_wait)
{
    static const char *const settings[] = {"remote.hang=1", "timeout=1", NULL};
    world w = open_world(BOTH, settings, "remote:0");
    collet_array *a = floats(w.cx, N, 1), *c = empty_floats(w.cx, N), *d = floats(w.cx, 1, 1);
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    collet_array_destroy(c);
    assert_ok(w.cx, collet_op_add(w.cx, d, d, d));
    collet_array_destroy(d);
    assert_int_equal(memory_of(w.cx).current, 2 * BYTES + sizeof(float));
    assert_status(w.cx, collet_finish(w.cx), COLLET_DEVICE_LOST);
    collet_array_destroy(a);
    close_world(w);
}

/* An allocation waits for a hung device as long as the setting `timeout` allows. */
TEST(short_memory_on_a_hung_device)
{
    static const char *const settings[] = {"remote.hang=1", "remote.memory=512", "timeout=1", NULL};
    OWNED(world) w = open_world(BOTH, settings, "remote:0,cpu_scalar");
    OWNED(collet_array) *a = floats(w.cx, N, 1), *d = floats(w.cx, N / 2, 1);
    collet_array *c = empty_floats(w.cx, N);
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    collet_array_destroy(c);
    assert_status(w.cx, collet_op_add(w.cx, d, d, d), COLLET_DEVICE_LOST);
    assert_ok(w.cx, collet_op_add(w.cx, d, d, d));
    assert_ok(w.cx, collet_op_add(w.cx, a, a, a));
    assert_first(w.cx, a, 2);
}

/* If memory is short, libcore first trims the memory that the plugin keeps. It refuses the call only if
 * the memory is then still too small. */
TEST(short_memory_is_trimmed)
{
    static const char *const settings[] = {"remote.memory=1024", "remote.hoards=1", NULL};
    world w = open_world(REMOTE_PLUGIN, settings, "remote:0");
    collet_array *a = floats(w.cx, N, 1), *kept[3];
    for (int i = 0; i < 20; i++) {
        OWNED(collet_array) *c = empty_floats(w.cx, N);
        assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    }
    for (int i = 0; i < 3; i++) {
        kept[i] = empty_floats(w.cx, N);
        assert_ok(w.cx, collet_op_add(w.cx, kept[i], a, a));
    }
    collet_array *c = empty_floats(w.cx, N);
    assert_status(w.cx, collet_op_add(w.cx, c, a, a), COLLET_REFUSED,
                  "do not fit in the device's memory");
    for (int i = 0; i < 3; i++)
        collet_array_destroy(kept[i]);
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_first(w.cx, c, 2);
    collet_array_destroy(a);
    collet_array_destroy(c);
    close_world(w);
}

/* Scratch that has grown is freed after the commands that use it. */
TEST(scratch_is_kept_while_used)
{
    static const char *const settings[] = {"remote.delay_us=3000", NULL};
    uint32_t plus;
    OWNED(world) w = open_world(REMOTE_PLUGIN, settings, "remote:0");
    collet_array *first = floats(w.cx, 1, 1);
    assert_ok(w.cx, collet_op_add(w.cx, first, first, first));
    assert_ok(w.cx, collet_ops_find(w.rt, &plus, "remote.plus", NULL));
    for (int64_t n = 1; n <= N; n *= 2) {
        OWNED(collet_array) *a = floats(w.cx, n, 1), *c = empty_floats(w.cx, n);
        const collet_array *const ins[] = {a, a};
        assert_ok(w.cx, collet_call(w.cx, plus, &c, ins, NULL));
    }
    collet_array_destroy(first);
    assert_ok(w.cx, collet_finish(w.cx));
    assert_int_equal(memory_of(w.cx).current, 256);
    assert_ok(w.cx, collet_trim(w.cx));
    assert_int_equal(memory_of(w.cx).current, 0);
}

static void wait_for(void *gate)
{
    sem_wait(gate);
}

/* Keeps the queue of the context's device busy until `gate` is posted. */
static void hold_queue(const world *w, sem_t *gate)
{
    void *handle;
    sem_init(gate, 0, 0);
    assert_ok(w->cx, collet_native_queue(w->cx, &handle, "remote:0"));
    remote_native_queue *queue = handle;
    queue->enqueue(queue, wait_for, gate);
}

/* Twenty commands are enqueued after the command that loses the device. */
TEST(a_device_is_lost_with_work_in_progress)
{
    static const char *const settings[] = {"remote.lose=2", NULL};
    sem_t gate;
    OWNED(world) w = open_world(BOTH, settings, "remote:0,cpu_scalar");
    OWNED(collet_array) *a = floats(w.cx, N, 1);
    hold_queue(&w, &gate);
    for (int i = 0; i < 22; i++) {
        OWNED(collet_array) *c = empty_floats(w.cx, N);
        assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    }
    sem_post(&gate);
    assert_status(w.cx, collet_finish(w.cx), COLLET_DEVICE_LOST);
    OWNED(collet_array) *c = empty_floats(w.cx, N);
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_string_equal(collet_last_backend(w.cx), "cpu_scalar");
    assert_first(w.cx, c, 2);
}

static collet_status succeed(remote_control *c, remote_command *command)
{
    return COLLET_OK;
}

static _Atomic int asked;

static void count_questions(remote_control *c, uint64_t queue, uint64_t value, collet_status status)
{
    asked += status == COLLET_NOT_READY;
}

/* Each call queries a busy queue only a few times, however many arrays were freed before. */
TEST(questions_do_not_grow_with_freed_memory)
{
    static remote_control control = {.enqueued = succeed, .waited = count_questions};
    char setting[40];
    const char *const settings[] = {setting, "remote.memory=40000", NULL};
    const collet_scalar one = {.dtype = COLLET_F32, .value.f32 = 1};
    sem_t gate;
    snprintf(setting, sizeof setting, "remote.control=%zx", (size_t)(void *)&control);
    OWNED(world) w = open_world(BOTH, settings, "remote:0,cpu_scalar");
    OWNED(collet_array) *last = empty_floats(w.cx, 9500);
    hold_queue(&w, &gate);
    for (int i = 0; i < 20; i++) {
        OWNED(collet_array) *c = empty_floats(w.cx, 1 + i);
        assert_ok(w.cx, collet_op_fill(w.cx, c, &one));
    }
    asked = 0;
    memory_of(w.cx); /* frees the blocks of finished commands */
    assert_in_range(asked, 1, 5);
    sem_post(&gate);
    assert_ok(w.cx, collet_op_fill(w.cx, last, &one));
}

/* The source of a copy between two devices is in use until the copy is done. */
TEST(a_source_is_kept_during_the_copy)
{
    static const char *const settings[] = {"remote.delay_us=3000", NULL};
    OWNED(world) w = open_world(REMOTE_PLUGIN, settings, "remote:0");
    OWNED(collet_array) *last = NULL;
    for (int i = 0; i < 20; i++) {
        OWNED(collet_array) *a = floats(w.cx, N, 1), *b = empty_floats(w.cx, N);
        assert_ok(w.cx, collet_set_backend(w.cx, "remote:0"));
        assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
        assert_ok(w.cx, collet_set_backend(w.cx, "remote:1"));
        collet_array_destroy(last);
        last = empty_floats(w.cx, N);
        assert_ok(w.cx, collet_op_add(w.cx, last, b, b));
    }
    assert_int_equal(counters_of(w.cx).bytes_direct, 20 * BYTES);
    assert_first(w.cx, last, 4);
}

/* A device with its own memory but without queues frees memory at once. */
TEST(a_synchronous_device_with_own_memory)
{
    static const char *const settings[] = {"remote.synchronous=1", "remote.memory=1024", NULL};
    OWNED(world) w = open_world(BOTH, settings, "remote:0");
    collet_array *a = floats(w.cx, N, 1), *last = NULL;
    for (int i = 0; i < 20; i++) {
        collet_array *c = empty_floats(w.cx, N);
        assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
        collet_array_destroy(last);
        last = c;
        assert_int_equal(memory_of(w.cx).current, 2 * BYTES);
    }
    assert_ok(w.cx, collet_set_backend(w.cx, "remote:1"));
    assert_ok(w.cx, collet_op_add(w.cx, last, last, last));
    assert_ok(w.cx, collet_set_backend(w.cx, "cpu_scalar"));
    assert_ok(w.cx, collet_op_add(w.cx, last, last, last));
    assert_first(w.cx, last, 8);
    assert_ok(w.cx, collet_finish(w.cx));
    collet_array_destroy(a);
    collet_array_destroy(last);
    assert_int_equal(memory_of(w.cx).current, 0);
}

typedef struct job {
    collet_runtime *rt;
    collet_array *shared;
    int rounds;
} job;

static void *loop(void *argument)
{
    job *j = argument;
    int64_t n = N;
    collet_context *cx = NULL;
    if (collet_context_create(j->rt, &cx, NULL) != COLLET_OK ||
        collet_set_backend(cx, "remote:0") != COLLET_OK)
        return NULL;
    for (collet_status status = COLLET_OK; status == COLLET_OK && j->rounds; j->rounds--) {
        collet_array *c = NULL, *d = NULL;
        status = collet_array_create(cx, &c, COLLET_F32, 1, &n);
        if (status == COLLET_OK)
            status = collet_array_create(cx, &d, COLLET_F32, 1, &n);
        if (status == COLLET_OK)
            status = collet_op_add(cx, c, j->shared, j->shared);
        if (status == COLLET_OK)
            status = collet_op_add(cx, d, c, j->shared);
        collet_array_destroy(c);
        collet_array_destroy(d);
        if (status != COLLET_OK)
            fprintf(stderr, "%s\n", collet_last_error(cx));
        j->rounds += status != COLLET_OK;
    }
    collet_context_destroy(cx);
    return NULL;
}

/* The memory is just large enough for the arrays in use: the shared array and two of each
 * thread. */
TEST(threads_share_short_memory)
{
    static const char *const settings[] = {"remote.memory=1280", "remote.delay_us=20", NULL};
    job jobs[2];
    pthread_t threads[2];
    OWNED(world) w = open_world(BOTH, settings, "remote:0");
    OWNED(collet_array) *shared = floats(w.cx, N, 1);
    for (int i = 0; i < 2; i++) {
        jobs[i] = (job){w.rt, shared, 1000};
        assert_int_equal(pthread_create(&threads[i], NULL, loop, &jobs[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(jobs[i].rounds, 0);
    }
}
