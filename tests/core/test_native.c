/* SPDX-License-Identifier: Apache-2.0 */
/* Native handles: a program mixes its own commands with Collet's, and uses its own device
 * memory. */

#include "common/support.h"

#include "fakes/remote/control.h"

#define N 16

/* ---- Devices and queues ------------------------------------------------------------------ */

TEST(devices_are_described)
{
    static const char *const without[] = {"remote.extension=collet.native/1 absent", NULL};
    collet_native_device native = {.struct_size = sizeof native};
    void *queue = &native;
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    assert_ok(w.cx, collet_native_describe(w.cx, &native, "remote:1"));
    assert_string_equal(native.api, "remote");
    assert_int_equal(native.dlpack_id, 1);
    assert_non_null(native.context);
    assert_ok(w.cx, collet_native_describe(w.cx, &native, "host"));
    assert_string_equal(native.api, "host");
    assert_int_equal(native.dlpack_type, 1);
    assert_null(native.context);
    assert_ok(w.cx, collet_native_queue(w.cx, &queue, "host"));
    assert_null(queue);
    assert_ok(w.cx, collet_native_queue(w.cx, &queue, "remote"));
    assert_non_null(queue);
    assert_status(w.cx, collet_native_describe(w.cx, &native, "auto"), COLLET_INVALID,
                  "collet_native_describe: 'auto' is neither \"host\" nor one device");
    assert_status(w.cx, collet_native_describe(w.cx, NULL, "host"), COLLET_INVALID);
    assert_status(w.cx, collet_native_queue(w.cx, NULL, "remote"), COLLET_INVALID);
    close_world(w);
    w = open_world(REMOTE_PLUGIN, without, "remote");
    assert_status(w.cx, collet_native_describe(w.cx, &native, "remote"), COLLET_UNSUPPORTED,
                  "collet_native_describe: remote:0 offers no native handles");
    assert_status(w.cx, collet_native_queue(w.cx, &queue, "remote"), COLLET_UNSUPPORTED);
}

/* ---- Acquire and release ----------------------------------------------------------------- */

/* Twice the elements, late. */
static void twice(void *user)
{
    float *at = user;
    usleep(20000);
    for (int i = 0; i < N; i++)
        at[i] *= 2.0f;
}

static void assert_multiple(collet_context *cx, const collet_array *a, float factor)
{
    float expected[N];
    for (int i = 0; i < N; i++)
        expected[i] = factor * (float)i;
    assert_floats(cx, a, expected);
}

/* First Collet works, then the program in the native queue, then Collet in two contexts. Each step sees
 * the results of the steps before it. */
TEST(commands_are_in_order)
{
    static const char *const slow[] = {"remote.delay_us=10000", NULL};
    OWNED(world) w = open_world(REMOTE_PLUGIN, slow, "remote");
    OWNED(collet_context) *other = context_of(w.rt);
    assert_ok(other, collet_set_backend(other, "remote"));
    OWNED(collet_array) *a = floats(w.cx, N, 0), *b = empty_floats(w.cx, N),
                        *c = empty_floats(w.cx, N);
    remote_native_queue *queue = NULL;
    void *address = NULL, *handle = NULL;
    uint64_t offset = 1;
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    assert_ok(w.cx, collet_array_acquire_on(w.cx, b, &address, &offset, "remote",
                                            COLLET_READ | COLLET_WRITE));
    assert_int_equal(offset, 0);
    assert_ok(w.cx, collet_native_queue(w.cx, &handle, "remote"));
    queue = handle;
    queue->enqueue(queue, twice, address);
    assert_status(w.cx, collet_op_add(w.cx, c, b, b), COLLET_BUSY);
    assert_ok(w.cx, collet_array_release_on(w.cx, b, "remote"));
    assert_ok(other, collet_op_add(other, c, b, b));
    assert_multiple(other, c, 8.0f);
    assert_multiple(w.cx, b, 4.0f);
}

/* If the program wrote the array on the device, the host's copy is stale. If it only read the
 * array, both copies stay valid, and a later write waits for the reader. */
TEST(release_makes_valid)
{
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    OWNED(collet_array) *a = floats(w.cx, N, 0);
    void *address = NULL, *handle = NULL;
    uint64_t offset = 0;
    assert_ok(w.cx, collet_native_queue(w.cx, &handle, "remote"));
    remote_native_queue *queue = handle;
    assert_ok(w.cx, collet_array_acquire_on(w.cx, a, &address, &offset, "remote", COLLET_WRITE));
    queue->enqueue(queue, twice, address);
    assert_ok(w.cx, collet_array_release_on(w.cx, a, "remote"));
    assert_multiple(w.cx, a, 2.0f);
    assert_ok(w.cx, collet_array_acquire_on(w.cx, a, &address, &offset, "remote", COLLET_READ));
    assert_int_equal(counters_of(w.cx).bytes_to_device, N * sizeof(float));
    queue->enqueue(queue, twice, address); /* stands for a slow reader; the add must wait for it */
    assert_ok(w.cx, collet_array_release_on(w.cx, a, "remote"));
    assert_ok(w.cx, collet_op_add(w.cx, a, a, a));
    assert_multiple(w.cx, a, 8.0f);
}

TEST(misuse_is_refused)
{
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    OWNED(collet_array) *a = floats(w.cx, N, 0), *wide = NULL;
    const int64_t shape[] = {2, N};
    void *address = NULL;
    uint64_t offset = 0;
    assert_ok(w.cx, collet_array_broadcast(w.cx, a, &wide, 2, shape));
    assert_status(w.cx,
                  collet_array_acquire_on(w.cx, wide, &address, &offset, "remote", COLLET_WRITE),
                  COLLET_INVALID);
    assert_status(w.cx, collet_array_acquire_on(w.cx, a, &address, &offset, "remote", 0),
                  COLLET_INVALID);
    assert_status(w.cx, collet_array_acquire_on(w.cx, a, NULL, &offset, "remote", COLLET_READ),
                  COLLET_INVALID);
    assert_status(w.cx,
                  collet_array_acquire_on(w.cx, NULL, &address, &offset, "remote", COLLET_READ),
                  COLLET_INVALID);
    assert_status(w.cx, collet_array_release_on(w.cx, a, "remote"), COLLET_INVALID, "not acquired");
    assert_status(w.cx, collet_array_release_on(w.cx, NULL, "remote"), COLLET_INVALID);
    assert_ok(w.cx, collet_array_acquire_on(w.cx, a, &address, &offset, "remote", COLLET_WRITE));
    assert_status(w.cx, collet_array_release(w.cx, a), COLLET_INVALID,
                  "not acquired in this memory");
    assert_status(w.cx, collet_array_release_on(w.cx, a, "remote:1"), COLLET_INVALID);
    assert_status(w.cx, collet_array_acquire(w.cx, a, &address, COLLET_READ), COLLET_BUSY);
    assert_ok(w.cx, collet_array_release_on(w.cx, a, "remote"));
}

/* Each function that takes a context and an array refuses an array of another runtime, and does not
 * change the array's contents. */
TEST(arrays_of_another_runtime_are_refused)
{
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    world other = open_world(REMOTE_PLUGIN, NULL, "remote");
    OWNED(collet_array) *a = floats(w.cx, N, 0), *b = floats(w.cx, N, 0), *view = NULL;
    struct DLManagedTensorVersioned *tensor = NULL;
    void *address = NULL;
    uint64_t offset = 0;
    float values[N];
    const int64_t shape[] = {1, N};
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
#define REFUSED(call)                                                                              \
    do {                                                                                           \
        assert_status(other.cx, call, COLLET_INVALID);                                             \
        assert_text_has(other.cx, ": the array belongs to another runtime");                       \
    } while (0)
    const char *const spaces[] = {"host", "remote", "remote:1"};
    for (size_t i = 0; i < 3; i++) {
        REFUSED(collet_array_prefetch(other.cx, b, spaces[i]));
        REFUSED(collet_array_acquire_on(other.cx, b, &address, &offset, spaces[i], COLLET_READ));
        REFUSED(collet_array_release_on(other.cx, b, spaces[i]));
        REFUSED(collet_array_to_dlpack(other.cx, b, &tensor, spaces[i], COLLET_READ));
    }
    REFUSED(collet_array_to_dlpack(other.cx, b, &tensor, NULL, COLLET_READ));
    REFUSED(collet_array_acquire(other.cx, b, &address, COLLET_READ));
    REFUSED(collet_array_release(other.cx, b));
    REFUSED(collet_array_read(other.cx, b, values, sizeof values));
    REFUSED(collet_array_write(other.cx, b, values, sizeof values));
    REFUSED(collet_array_slice(other.cx, b, &view, 0, 0, 1, 1));
    REFUSED(collet_array_permute(other.cx, b, &view, NULL));
    REFUSED(collet_array_reshape(other.cx, b, &view, 2, shape));
    REFUSED(collet_array_broadcast(other.cx, b, &view, 2, shape));
#undef REFUSED
    assert_null(view);
    assert_null(tensor);
    close_world(other);
    assert_multiple(w.cx, b, 2);
}

TEST(the_host_is_a_device_too)
{
    float values[N] = {0};
    const int64_t n = N;
    void *address = NULL;
    uint64_t offset = 1;
    OWNED(world) w = open_world(SCALAR_PLUGIN, NULL, "cpu_scalar");
    OWNED(collet_array) *a = NULL, *part = NULL;
    assert_ok(w.cx, collet_array_wrap_on(w.cx, &a, "cpu_scalar", COLLET_F32, 1, &n, NULL, values, 0,
                                         0, NULL, NULL));
    assert_ok(w.cx, collet_array_slice(w.cx, a, &part, 0, 2, 4, 1));
    assert_ok(w.cx, collet_array_acquire_on(w.cx, part, &address, &offset, "host", COLLET_WRITE));
    assert_ptr_equal(address, values);
    assert_int_equal(offset, 8);
    assert_ok(w.cx, collet_array_release_on(w.cx, part, "host"));
    assert_int_equal(counters_of(w.cx).bytes_to_device, 0);
}

/* ---- Memory of the program's own --------------------------------------------------------- */

static void count(void *user)
{
    ++*(int *)user;
}

TEST(foreign_memory)
{
    static float memory[2 * N];
    const int64_t n = N, back = -1;
    int deleted = 0;
    for (int i = 0; i < N; i++)
        memory[i] = (float)(N - 1 - i);
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
    collet_array *a = NULL, *b = NULL;
    /* a: the elements in reverse order, starting at the last element. b: the N elements after the elements of a. */
    assert_ok(w.cx,
              collet_array_wrap_on(w.cx, &a, "remote", COLLET_F32, 1, &n, &back, memory,
                                   (N - 1) * sizeof(float), COLLET_WRAP_READONLY, count, &deleted));
    assert_ok(w.cx, collet_array_wrap_on(w.cx, &b, "remote", COLLET_F32, 1, &n, NULL, memory,
                                         N * sizeof(float), 0, count, &deleted));
    assert_ok(w.cx, collet_op_add(w.cx, b, a, a));
    assert_int_equal(counters_of(w.cx).bytes_to_device, 0);
    assert_status(w.cx, collet_op_add(w.cx, a, b, b), COLLET_INVALID);
    assert_ok(w.cx, collet_finish(w.cx));
    for (int i = 0; i < N; i++)
        assert_true(memory[N + i] == 2.0f * (float)i);
    assert_multiple(w.cx, a, 1.0f);
    collet_memory_stats stats = {.struct_size = sizeof stats};
    assert_ok(w.cx, collet_memory(w.cx, &stats, "remote:0"));
    assert_int_equal(stats.current, 0);
    /* If another memory space has newer bytes, they are copied to the wrapped memory before the deleter runs. */
    float ones[N];
    for (int i = 0; i < N; i++)
        ones[i] = 1.0f;
    assert_ok(w.cx, collet_array_write(w.cx, b, ones, sizeof ones));
    collet_array_destroy(b);
    assert_int_equal(deleted, 1);
    for (int i = 0; i < N; i++)
        assert_true(memory[N + i] == 1.0f);
    collet_array_destroy(a);
    assert_int_equal(deleted, 2);
}

TEST(wrong_memory_is_refused)
{
    static float memory[N];
    const int64_t n = N - 1, huge[] = {INT64_MAX / 2, INT64_MAX / 2};
    int deleted = 0;
    collet_array *a = NULL;
    OWNED(world) w = open_world(REMOTE_PLUGIN, NULL, "remote");
#define WRAP(ndim, shape, handle, offset, flags)                                                   \
    collet_array_wrap_on(w.cx, &a, "remote", COLLET_F32, ndim, shape, NULL, handle, offset, flags, \
                         count, &deleted)
    assert_status(w.cx, WRAP(1, &n, memory, 2, 0), COLLET_INVALID, "is not aligned to 4 bytes");
    assert_status(w.cx, WRAP(1, &n, NULL, 0, 0), COLLET_INVALID);
    assert_status(w.cx, WRAP(1, &n, memory, 0, 8), COLLET_INVALID,
                  "collet_array_wrap_on: flags is 0x8; it must be 0");
    assert_status(w.cx, WRAP(2, huge, memory, 0, 0), COLLET_OVERFLOW);
    assert_status(w.cx, WRAP(1, &n, memory, UINT64_MAX - 3, 0), COLLET_INVALID,
                  "outside of the memory");
    const int64_t back = -1;
    assert_status(w.cx,
                  collet_array_wrap_on(w.cx, &a, "remote", COLLET_F32, 1, &n, &back, memory, 0, 0,
                                       count, &deleted),
                  COLLET_INVALID, "outside of the memory");
    assert_null(a);
    assert_int_equal(deleted, 0);
    const int64_t empty = 0;
    assert_ok(w.cx, WRAP(1, &empty, NULL, 0, 0));
    collet_array_destroy(a);
    assert_int_equal(deleted, 1);
}
