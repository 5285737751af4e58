/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers, spaces, queues and failures on a backend with device memory and asynchronous queues.
 */
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common/support.h"

#define BOTH REMOTE_PLUGIN ":" SCALAR_PLUGIN

/* A chain of kernels transfers each input once, and each result only when it is read. */
TEST(a_chain_moves_inputs_and_results_only)
{
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    OWNED(collet_array) *a = floats(w.cx, 16, 0), *b = floats(w.cx, 16, 100),
                        *c = empty_floats(w.cx, 16);
    for (int i = 0; i < 20; i++)
        assert_ok(w.cx, collet_op_add(w.cx, c, i ? c : a, b));
    collet_counters before = counters_of(w.cx);
    assert_int_equal(before.bytes_to_device, 2 * 64);
    assert_int_equal(before.bytes_to_host, 0);
    float expected[16];
    for (int i = 0; i < 16; i++)
        expected[i] = (float)i + 20.0f * (100.0f + (float)i);
    assert_floats(w.cx, c, expected);
    assert_floats(w.cx, c, expected);
    assert_int_equal(counters_of(w.cx).bytes_to_host, 64);
    assert_int_equal(counters_of(w.cx).calls, 20);
}

/* A prefetch copies an array once. It does not copy an array that is already valid on the device, or
 * that is acquired. */
TEST(a_prefetch_copies_once)
{
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    OWNED(collet_array) *a = floats(w.cx, 16, 1), *c = empty_floats(w.cx, 16);
    void *address;
    assert_ok(w.cx, collet_array_prefetch(w.cx, a, "host"));
    assert_int_equal(counters_of(w.cx).bytes_to_device, 0);
    assert_ok(w.cx, collet_array_prefetch(w.cx, a, "remote:0"));
    assert_int_equal(counters_of(w.cx).bytes_to_device, 64);
    assert_ok(w.cx, collet_array_prefetch(w.cx, a, "remote:0"));
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_int_equal(counters_of(w.cx).bytes_to_device, 64);
    assert_ok(w.cx, collet_array_prefetch(w.cx, c, "host"));
    assert_int_equal(counters_of(w.cx).bytes_to_host, 64);
    float expected[16];
    for (int i = 0; i < 16; i++)
        expected[i] = 2.0f * (1.0f + (float)i);
    assert_floats(w.cx, c, expected);
    assert_int_equal(counters_of(w.cx).bytes_to_host, 64);
    assert_ok(w.cx, collet_array_acquire(w.cx, a, &address, COLLET_WRITE));
    assert_status(w.cx, collet_array_prefetch(w.cx, a, "remote:1"), COLLET_BUSY);
    assert_ok(w.cx, collet_array_release(w.cx, a));
    assert_status(w.cx, collet_array_prefetch(w.cx, NULL, "host"), COLLET_INVALID);
    assert_status(w.cx, collet_array_prefetch(w.cx, a, "remote:9"), COLLET_UNAVAILABLE);
}

/* Results of one device are used on the other device and on the host: every reader gets the newest bytes. */
TEST(the_newest_bytes_win)
{
    OWNED(world) w = open_world(BOTH, NULL, "remote:0");
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_ok(w.cx, collet_set_backend(w.cx, "remote:1"));
    assert_ok(w.cx, collet_op_mul(w.cx, c, c, a));
    assert_ok(w.cx, collet_set_backend(w.cx, "cpu_scalar"));
    assert_ok(w.cx, collet_op_sub(w.cx, c, c, a));
    assert_ok(w.cx, collet_set_backend(w.cx, "remote:0"));
    assert_ok(w.cx, collet_op_add(w.cx, c, c, a));
    const float expected[] = {2, 8, 18, 32};
    assert_floats(w.cx, c, expected);
}

/* A partial write keeps the rest of the storage, whichever memory space had the valid bytes. */
TEST(a_partial_write_keeps_the_rest)
{
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    OWNED(collet_array) *a = floats(w.cx, 6, 0), *part = NULL, *b = floats(w.cx, 3, 50);
    assert_ok(w.cx, collet_array_slice(w.cx, a, &part, 0, 0, 3, 2));
    assert_ok(w.cx, collet_op_copy(w.cx, part, b));
    const float expected[] = {50, 1, 51, 3, 52, 5};
    assert_floats(w.cx, a, expected);
    void *address;
    assert_ok(w.cx, collet_array_acquire(w.cx, a, &address, COLLET_WRITE));
    ((float *)address)[1] = -1;
    assert_status(w.cx, collet_op_add(w.cx, b, part, part), COLLET_BUSY);
    assert_status(w.cx, collet_array_acquire(w.cx, a, &address, COLLET_READ), COLLET_BUSY);
    assert_ok(w.cx, collet_array_release(w.cx, a));
    assert_status(w.cx, collet_array_release(w.cx, a), COLLET_INVALID);
    OWNED(collet_array) *all = empty_floats(w.cx, 6);
    assert_ok(w.cx, collet_op_add(w.cx, all, a, a));
    const float doubled[] = {100, -2, 102, 6, 104, 10};
    assert_floats(w.cx, all, doubled);
}

/* If device memory is too small for a call, the call is refused without loss of data, or a fallback runs it
 * if this is allowed. */
TEST(refusal_falls_back_or_not)
{
    static const char *const settings[] = {"remote.memory=100", NULL};
    OWNED(world) w = open_world(BOTH, settings, "remote");
    OWNED(collet_array) *a = floats(w.cx, 16, 0), *c = floats(w.cx, 16, 7);
    assert_status(w.cx, collet_op_add(w.cx, c, a, a), COLLET_REFUSED, "add on remote:0",
                  "do not fit in the device's memory");
    float original[16], expected[16];
    for (int i = 0; i < 16; i++) {
        original[i] = 7.0f + (float)i;
        expected[i] = 2.0f * (float)i;
    }
    assert_floats(w.cx, c, original);
    assert_ok(w.cx, collet_set_backend(w.cx, "remote,cpu_scalar"));
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_string_equal(collet_last_backend(w.cx), "cpu_scalar");
    assert_int_equal(counters_of(w.cx).fallbacks, 1);
    assert_floats(w.cx, c, expected);
    collet_set_fallback(w.cx, 0);
    assert_status(w.cx, collet_op_add(w.cx, c, a, a), COLLET_REFUSED);
}

TEST(a_missing_kernel_falls_back_or_is_reported)
{
    OWNED(world) w = open_world(BOTH, NULL, "remote");
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
    assert_status(w.cx, collet_op_div(w.cx, c, a, a), COLLET_UNSUPPORTED);
    assert_string_equal(collet_last_error(w.cx),
                        "remote:0 has no kernel div: set COLLET_FALLBACK=on, or choose a list "
                        "such as remote,cpu_scalar");
    collet_set_fallback(w.cx, 0);
    assert_status(w.cx, collet_op_div(w.cx, c, a, a), COLLET_UNSUPPORTED,
                  "remote:0 has no kernel div; fallback is off");
    collet_set_fallback(w.cx, 1);
    assert_ok(w.cx, collet_set_backend(w.cx, "remote,cpu_scalar"));
    assert_ok(w.cx, collet_op_div(w.cx, c, a, a));
    const float ones[] = {1, 1, 1, 1};
    assert_floats(w.cx, c, ones);
}

/* libcore's own copies (temporaries, strided reads and writes) need no kernel of the backend. */
TEST(core_copies_without_a_kernel)
{
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    const int64_t shape[] = {2, 3};
    const int32_t values[] = {1, 2, 3, 4, 5, 6}, transposed[] = {1, 4, 2, 5, 3, 6};
    int32_t got[6];
    OWNED(collet_array) *a = NULL, *t = NULL;
    assert_ok(w.cx, collet_array_from(w.cx, &a, COLLET_I32, 2, shape, values));
    assert_ok(w.cx, collet_array_permute(w.cx, a, &t, NULL));
    assert_ok(w.cx, collet_array_read(w.cx, t, got, sizeof got));
    assert_memory_equal(got, transposed, sizeof got);
    assert_ok(w.cx, collet_array_write(w.cx, t, values, sizeof values));
    assert_ok(w.cx, collet_array_read(w.cx, t, got, sizeof got));
    assert_memory_equal(got, values, sizeof got);
}

/* If a kernel fails after its launch, the next wait reports this. The kernel's output is never readable. */
TEST(a_late_failure_is_reported)
{
    static const char *const settings[] = {"remote.fail=2", NULL};
    OWNED(world) w = open_world(REMOTE_PLUGIN, settings, "remote");
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4),
                        *d = empty_floats(w.cx, 4);
    float sink[4];
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_ok(w.cx, collet_finish(w.cx));
    assert_ok(w.cx, collet_op_mul(w.cx, d, a, a));
    assert_status(w.cx, collet_finish(w.cx), COLLET_FAILED, "remote:0");
    assert_status(w.cx, collet_array_read(w.cx, d, sink, sizeof sink), COLLET_FAILED);
    const float doubled[] = {2, 4, 6, 8};
    assert_floats(w.cx, c, doubled);
    assert_ok(w.cx, collet_op_add(w.cx, d, a, a));
    assert_floats(w.cx, d, doubled);
}

/* If a device is lost, only bytes that are valid nowhere else are lost. The context continues on other
 * devices. */
TEST(a_lost_device_loses_only_its_own)
{
    static const char *const settings[] = {"remote.lose=2", NULL};
    OWNED(world) w = open_world(BOTH, settings, "remote:0,cpu_scalar");
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4),
                        *d = empty_floats(w.cx, 4);
    float sink[4];
    const float doubled[] = {2, 4, 6, 8}, squares[] = {1, 4, 9, 16};
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_floats(w.cx, c, doubled);
    assert_ok(w.cx, collet_op_mul(w.cx, d, a, a));
    assert_status(w.cx, collet_array_read(w.cx, d, sink, sizeof sink), COLLET_DEVICE_LOST);
    assert_floats(w.cx, c, doubled);
    assert_status(w.cx, collet_array_read(w.cx, d, sink, sizeof sink), COLLET_DEVICE_LOST);
    assert_ok(w.cx, collet_op_mul(w.cx, d, a, a));
    assert_string_equal(collet_last_backend(w.cx), "cpu_scalar");
    assert_floats(w.cx, d, squares);
    /* Every function that takes the name of a device refuses the lost device. */
    collet_error err;
    assert_status(w.cx, collet_set_backend(w.cx, "remote:0"), COLLET_UNAVAILABLE,
                  "remote:0 was lost");
    assert_status(w.cx, collet_array_prefetch(w.cx, a, "remote:0"), COLLET_UNAVAILABLE,
                  "remote:0 was lost");
    assert_error(collet_backend_has_kernel(w.rt, "remote:0", COLLET_OP_ADD, NULL, 0, &err),
                 COLLET_UNAVAILABLE, err, "remote:0 was lost");
}

typedef struct reader {
    collet_runtime *rt;
    collet_array *array;
    collet_status status;
    char text[COLLET_ERROR_TEXT];
    _Atomic int began, ended;
} reader;

static void *read_elsewhere(void *argument)
{
    reader *r = argument;
    float sink[4];
    collet_context *cx = context_of(r->rt);
    r->began = 1;
    r->status = collet_array_read(cx, r->array, sink, sizeof sink);
    r->ended = 1;
    snprintf(r->text, sizeof r->text, "%s", collet_last_error(cx));
    collet_context_destroy(cx);
    return NULL;
}

/* A device hangs in its second kernel. A reader of the first result does not wait for the second result. While a
 * thread waits for the second result, other threads can enqueue work. The device is lost after `timeout` seconds. */
TEST(a_hung_device_is_lost_in_time)
{
    static const char *const settings[] = {"remote.hang=2", "timeout=3", NULL};
    OWNED(world) w = open_world(BOTH, settings, "remote:0,cpu_scalar");
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4),
                        *d = empty_floats(w.cx, 4), *e = empty_floats(w.cx, 4);
    const float doubled[] = {2, 4, 6, 8}, squares[] = {1, 4, 9, 16};
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_ok(w.cx, collet_op_mul(w.cx, d, a, a));
    assert_floats(w.cx, c, doubled);
    reader r = {.rt = w.rt, .array = d};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_elsewhere, &r), 0);
    while (!r.began)
        usleep(1000);
    usleep(20000);
    assert_ok(w.cx, collet_op_add(w.cx, e, a, a));
    assert_string_equal(collet_last_backend(w.cx), "remote");
    assert_false(r.ended);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(r.status, COLLET_DEVICE_LOST);
    assert_contains(r.text, "did not finish within 3 s (setting 'timeout')");
    assert_status(w.cx, collet_finish(w.cx), COLLET_DEVICE_LOST);
    assert_ok(w.cx, collet_op_mul(w.cx, d, a, a));
    assert_string_equal(collet_last_backend(w.cx), "cpu_scalar");
    assert_floats(w.cx, d, squares);
    assert_floats(w.cx, c, doubled);
}

/* A failed queue is replaced when its commands have ended. The setting `timeout` limits this wait too. */
TEST(a_failed_queue_that_hangs_is_lost_in_time)
{
    static const char *const settings[] = {"remote.fail=1", "remote.hang=2", "timeout=1", NULL};
    OWNED(world) w = open_world(BOTH, settings, "remote:0,cpu_scalar");
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4),
                        *d = empty_floats(w.cx, 4);
    const float doubled[] = {2, 4, 6, 8};
    float sink[4];
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_ok(w.cx, collet_op_mul(w.cx, d, a, a));
    assert_status(w.cx, collet_array_read(w.cx, c, sink, sizeof sink), COLLET_FAILED);
    assert_status(w.cx, collet_op_add(w.cx, c, a, a), COLLET_DEVICE_LOST,
                  "did not finish within 1 s");
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_floats(w.cx, c, doubled);
}

/* "auto" prefers the device that holds the bytes. */
TEST(auto_follows_the_bytes)
{
    OWNED(world) w = open_world(BOTH, NULL, "remote:1");
    OWNED(collet_array) *a = floats(w.cx, 4, 1), *c = empty_floats(w.cx, 4);
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    assert_ok(w.cx, collet_set_backend(w.cx, "auto"));
    assert_string_equal(collet_get_backend(w.cx), "auto");
    assert_ok(w.cx, collet_op_add(w.cx, c, c, c));
    assert_string_equal(collet_last_backend(w.cx), "remote");
    OWNED(collet_array) *e = floats(w.cx, 4, 1), *f = empty_floats(w.cx, 4);
    assert_ok(w.cx, collet_op_add(w.cx, f, e, e));
    assert_string_equal(collet_last_backend(w.cx), "cpu_scalar");
    assert_int_equal(counters_of(w.cx).fallbacks, 0);
}

typedef struct job {
    collet_runtime *rt;
    collet_array *shared;
    const char *backend;
    int failures;
} job;

static void *work(void *argument)
{
    job *j = argument;
    collet_context *cx = NULL;
    int64_t n = 16;
    if (collet_context_create(j->rt, &cx, NULL) != COLLET_OK ||
        collet_set_backend(cx, j->backend) != COLLET_OK) {
        j->failures++;
        return NULL;
    }
    for (int i = 0; i < 200; i++) {
        OWNED(collet_array) *c = NULL;
        float got[16];
        if (collet_array_create(cx, &c, COLLET_F32, 1, &n) != COLLET_OK ||
            collet_op_add(cx, c, j->shared, j->shared) != COLLET_OK ||
            collet_op_add(cx, c, c, j->shared) != COLLET_OK ||
            collet_array_read(cx, c, got, sizeof got) != COLLET_OK || got[5] != 15.0f)
            j->failures++;
    }
    collet_context_destroy(cx);
    return NULL;
}

/* Contexts on several threads, devices and the host share an input and a runtime. */
TEST(contexts_share_an_array)
{
    static const char *const settings[] = {"remote.delay_us=50", NULL};
    const char *const backends[] = {"remote:0", "remote:0", "remote:1", "cpu_scalar"};
    job jobs[4];
    pthread_t threads[4];
    OWNED(world) w = open_world(BOTH, settings, NULL);
    OWNED(collet_array) *shared = floats(w.cx, 16, 0);
    for (int i = 0; i < 4; i++) {
        jobs[i] = (job){w.rt, shared, backends[i], 0};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(jobs[i].failures, 0);
    }
}

/* Objects may be destroyed in any order: the last of them keeps the runtime alive. Device memory is freed. */
TEST(arrays_may_outlive_everything)
{
    world w = open_world(REMOTE_PLUGIN, NULL, "remote");
    collet_array *a = floats(w.cx, 16, 0), *c = empty_floats(w.cx, 16);
    float doubled[16];
    for (int i = 0; i < 16; i++)
        doubled[i] = 2.0f * (float)i;
    assert_ok(w.cx, collet_op_add(w.cx, c, a, a));
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(w.cx, collet_memory(w.cx, &stats, "remote:0"));
    assert_int_equal(stats.current, 128);
    collet_array_destroy(a);
    assert_ok(w.cx, collet_finish(w.cx));
    assert_ok(w.cx, collet_memory(w.cx, &stats, "remote:0"));
    assert_int_equal(stats.current, 64);
    assert_int_equal(stats.peak, 128);
    assert_int_equal(stats.held, 128);
    assert_ok(w.cx, collet_trim(w.cx));
    assert_ok(w.cx, collet_memory(w.cx, &stats, "remote:0"));
    assert_int_equal(stats.held, 64);
    assert_floats(w.cx, c, doubled);
    collet_runtime_destroy(w.rt);
    collet_context_destroy(w.cx);
    collet_array_destroy(c);
}

typedef struct seen {
    const float *memory;
    float first;
} seen;

static void see(void *user)
{
    seen *s = user;
    s->first = s->memory[0];
}

static void *free_array(void *array)
{
    collet_array_destroy(array);
    return NULL;
}

/* Wrapped memory has the result before its deleter runs, whichever thread frees the last view. */
TEST(wrapped_memory_has_the_result_when_freed)
{
    float memory[4] = {0};
    const int64_t four = 4;
    seen s = {.memory = memory};
    pthread_t thread;
    world w = open_world(REMOTE_PLUGIN, NULL, "remote");
    collet_array *a = floats(w.cx, 4, 1), *b = NULL, *view = NULL;
    assert_ok(w.cx, collet_array_wrap(w.cx, &b, COLLET_F32, 1, &four, NULL, memory, 0, see, &s));
    assert_ok(w.cx, collet_array_slice(w.cx, b, &view, 0, 0, 2, 1));
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    collet_array_destroy(b);
    assert_true(memory[0] == 0.0f);
    assert_int_equal(pthread_create(&thread, NULL, free_array, view), 0);
    pthread_join(thread, NULL);
    const float doubled[] = {2, 4, 6, 8};
    assert_memory_equal(memory, doubled, sizeof memory);
    assert_true(s.first == 2.0f);
    collet_array_destroy(a);
    close_world(w);
}

/* An array in read-only pages: writes are refused before they touch the memory, and reads work. */
TEST(read_only_memory_is_never_written)
{
    const int64_t four = 4, two[] = {2, 2};
    float *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    for (int i = 0; i < 4; i++)
        page[i] = (float)i;
    assert_int_equal(mprotect(page, 4096, PROT_READ), 0);
    static const char *const backends[] = {"cpu_scalar", "remote"};
    for (int i = 0; i < 2; i++) {
        OWNED(world) w = open_world(BOTH, NULL, backends[i]);
        OWNED(collet_array) *a = NULL, *view = NULL, *t = NULL, *b = floats(w.cx, 4, 0);
        void *address = NULL;
        float sink[4];
        assert_ok(w.cx, collet_array_wrap(w.cx, &a, COLLET_F32, 1, &four, NULL, page,
                                          COLLET_WRAP_READONLY, NULL, NULL));
        assert_ok(w.cx, collet_array_reshape(w.cx, a, &view, 2, two));
        assert_ok(w.cx, collet_array_permute(w.cx, view, &t, NULL));
        assert_status(w.cx, collet_op_add(w.cx, a, b, b), COLLET_INVALID,
                      "add: out (output 0) wraps read-only memory");
        assert_status(w.cx, collet_op_copy(w.cx, t, view), COLLET_INVALID);
        assert_status(w.cx, collet_array_write(w.cx, a, sink, sizeof sink), COLLET_INVALID);
        assert_status(w.cx, collet_array_write(w.cx, t, sink, sizeof sink), COLLET_INVALID,
                      "collet_array_write: the array wraps");
        assert_status(w.cx, collet_array_acquire(w.cx, t, &address, COLLET_WRITE), COLLET_INVALID,
                      "collet_array_acquire: the array wraps");
        assert_ok(w.cx, collet_array_acquire(w.cx, a, &address, COLLET_READ));
        assert_ptr_equal(address, page);
        assert_ok(w.cx, collet_array_release(w.cx, a));
        assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
        assert_floats(w.cx, b, (const float[]){0, 2, 4, 6});
        assert_floats(w.cx, t, (const float[]){0, 2, 1, 3});
    }
    munmap(page, 4096);
}

#if defined(__SANITIZE_ADDRESS__)
#define KEPT 0 /* the sanitizer's malloc supplies all memory, and libcore keeps none */
#else
#define KEPT ((uint64_t)64 << 20)
#endif

static uint64_t kept_memory(collet_context *cx)
{
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(cx, collet_memory(cx, &stats, "host"));
    return stats.held - stats.current;
}

static collet_array *written(collet_context *cx, int64_t n, int byte)
{
    void *address = NULL;
    collet_array *a = NULL;
    assert_ok(cx, collet_array_create(cx, &a, COLLET_F32, 1, &n));
    assert_ok(cx, collet_array_acquire(cx, a, &address, COLLET_WRITE));
    assert_int_equal(0, (uintptr_t)address % 64);
    memset(address, byte, (size_t)n * sizeof(float));
    assert_ok(cx, collet_array_release(cx, a));
    return a;
}

/* Arrays that are created one after another reuse the same pages, so that the system need not clear new pages.
 * The arrays have 3 to 24 MiB and are aligned to cache lines or to huge pages. */
TEST(freed_memory_is_used_again)
{
    OWNED(world) w = open_world(BOTH, NULL, "cpu_scalar");
    for (int64_t n = (3 << 18) + 1; n < 8 << 20; n *= 2) {
        struct rusage before, after;
        for (int i = 0; i < 13; i++) {
            if (i == 3)
                getrusage(RUSAGE_SELF, &before);
            collet_array_destroy(written(w.cx, n, i));
        }
        getrusage(RUSAGE_SELF, &after);
        if (KEPT)
            assert_in_range(after.ru_minflt - before.ru_minflt, 0, 9);
    }
}

/* libcore keeps a part of the freed memory of many arrays until a trim. It keeps no memory of very large arrays. */
TEST(little_freed_memory_is_kept)
{
    collet_array *many[20];
    OWNED(world) w = open_world(BOTH, NULL, "cpu_scalar");
    assert_ok(w.cx, collet_trim(w.cx));
    assert_int_equal(0, kept_memory(w.cx));
    collet_array_destroy(written(w.cx, 40 << 20, 1));
    assert_int_equal(0, kept_memory(w.cx));
    for (int i = 0; i < 20; i++)
        many[i] = written(w.cx, (int64_t)(1 + i % 5) << 20, i);
    assert_int_equal(0, kept_memory(w.cx));
    for (int i = 0; i < 20; i++)
        collet_array_destroy(many[i]);
    assert_in_range(kept_memory(w.cx), KEPT / 2, KEPT);
    collet_array *again = written(w.cx, 5 << 20, 7); /* the same size as the memory freed last */
    assert_in_range(kept_memory(w.cx), 0, KEPT - KEPT / 4);
    collet_array_destroy(again);
    assert_ok(w.cx, collet_trim(w.cx));
    assert_int_equal(0, kept_memory(w.cx));
}

int main(void)
{
    without_trace();
    return test_run();
}
