/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, queues and events of the cuda backend, on the fake driver; cuda_host_verbs checks bytes and imported and
 * page-locked memory. */
#include "cuda_fixture.h"

#include <pthread.h>

static collet_memory_stats stats(void)
{
    collet_memory_stats s = {.struct_size = sizeof s};
    const collet_memory_extension *e = plugin->extension(device, COLLET_EXTENSION_MEMORY);
    assert_good(e->stats(device, &s, &err));
    return s;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

TEST_WITH(memory_is_used_again, open_one, close_one)
{
    collet_buffer *a = new_buffer(device, 1000);
    void *first = NULL, *second = NULL;
    assert_good(natives(device)->buffer(device, a, &first, &err));
    plugin->buffer_free(device, a);
    collet_buffer *b = new_buffer(device, 990);
    assert_good(natives(device)->buffer(device, b, &second, &err));
    assert_ptr_equal(first, second);
    assert_int_equal(cu->allocated, 1);
    assert_int_equal(stats().current, 990);
    assert_int_equal(stats().peak, 1000);
    assert_true(stats().held >= 1000);
    assert_int_equal(stats().total, 1 << 20);
    assert_int_equal(stats().available, (1 << 20) - stats().held);
    plugin->buffer_free(device, b);
    assert_true(stats().held > 0);
    trim(device);
    assert_int_equal(stats().held, 0);
    assert_int_equal(cu->allocations, 0);
}

TEST_WITH(memory_is_short, open_one, close_one)
{
    collet_buffer *half = new_buffer(device, 600 << 10), *more = NULL;
    assert_status_is(plugin->buffer_alloc(device, &more, 600 << 10, &err), COLLET_REFUSED);
    assert_contains(err.text, "cannot allocate 614400 bytes of device memory");
    /* Nothing leaks, and pooled memory is freed. */
    plugin->buffer_free(device, new_buffer(device, 1000));
    plugin->buffer_free(device, half);
    more = new_buffer(device, 700 << 10);
    assert_good(wait_all(device, queue));
    plugin->buffer_free(device, more);
}

TEST_WITH(memory_is_limited, open_one, close_one)
{
    collet_buffer *b = NULL;
    set_memory = "65536";
    collet_device *limited = open_device(0);
    assert_status_is(plugin->buffer_alloc(limited, &b, 65537, &err), COLLET_REFUSED);
    b = new_buffer(limited, 65536);
    plugin->buffer_free(limited, b);
    plugin->device_close(limited);
}

TEST_WITH(foreign_memory_is_checked, open_one, close_one)
{
    void *address = NULL;
    collet_buffer *own = new_buffer(device, 256), *b = NULL;
    const collet_native_extension *n = natives(device);
    assert_good(n->buffer(device, own, &address, &err));
    assert_status_is(n->buffer_import(device, &b, address, 2, 64, 4, &err), COLLET_INVALID);
    assert_contains(err.text, "is not a multiple of the 4 bytes of an element");
    assert_status_is(n->buffer_import(device, &b, &b, 0, 64, 4, &err), COLLET_INVALID);
    assert_contains(err.text, "is not an address in memory of CUDA");
    plugin->buffer_free(device, own);
}

/* A mark also covers commands that the program enqueued in the native stream. */
TEST_WITH(foreign_commands_are_marked, open_one, close_one)
{
    collet_native_device native = {.struct_size = sizeof native};
    void *stream = NULL;
    assert_good(natives(device)->device(device, &native, &err));
    assert_string_equal(native.api, "cuda");
    assert_int_equal(native.dlpack_type, 2);
    assert_int_equal(native.dlpack_id, 0);
    assert_good(natives(device)->queue(device, queue, &stream, &err));
    assert_non_null(stream);
    uint64_t before = plugin->queue_mark(device, queue);
    assert_good(natives(device)->queue_used(device, queue, &err));
    assert_true(plugin->queue_mark(device, queue) > before);
    assert_good(wait_all(device, queue));
}

/* ---- Queues and events ----------------------------------------------------------------------- */

TEST_WITH(the_current_context_stays, open_one, close_one)
{
    void *before = cu->current();
    collet_native_device native = {.struct_size = sizeof native};
    assert_null(before);
    collet_buffer *b = new_buffer(device, 256);
    assert_good(add(device, queue, b, b, b, 64));
    assert_good(wait_all(device, queue));
    assert_good(natives(device)->device(device, &native, &err));
    assert_non_null(native.context);
    plugin->buffer_free(device, b);
    trim(device);
    assert_null(cu->current());
}

TEST_WITH(timeline, open_one, close_one)
{
    cu->busy = 1;
    collet_queue *other = new_queue(device);
    collet_buffer *b = new_buffer(device, 4096);
    uint64_t begin = plugin->queue_mark(device, queue);
    assert_good(plugin->queue_wait(device, queue, begin, 0, &err));
    assert_good(plugin->queue_after(device, other, queue, begin, &err));
    assert_int_equal(cu->waits, 0);
    assert_good(add(device, queue, b, b, b, 64));
    uint64_t first = plugin->queue_mark(device, queue);
    assert_true(first > begin);
    assert_true(plugin->queue_mark(device, queue) == first);
    assert_good(add(device, queue, b, b, b, 64));
    uint64_t last = plugin->queue_mark(device, queue);
    assert_true(last > first);
    assert_status_is(plugin->queue_wait(device, queue, first, 0, &err), COLLET_NOT_READY);
    assert_status_is(plugin->queue_wait(device, queue, first, 3000000, &err), COLLET_NOT_READY);
    assert_good(plugin->queue_after(device, other, queue, first, &err));
    assert_int_equal(cu->waits, 1);
    /* A wait for the first command does not wait for the last command. */
    assert_good(plugin->queue_wait(device, queue, first, -1, &err));
    assert_good(plugin->queue_wait(device, queue, first, 0, &err));
    assert_status_is(plugin->queue_wait(device, queue, last, 0, &err), COLLET_NOT_READY);
    assert_good(plugin->queue_wait(device, queue, last, -1, &err));
    plugin->buffer_free(device, b);
    plugin->queue_destroy(device, other);
}

/* A queue with more commands than it has markers and labels. */
TEST_WITH(a_long_queue, open_one, close_one)
{
    collet_queue *other = new_queue(device);
    collet_buffer *b = new_buffer(device, 4096), *c = new_buffer(device, 4096);
    cu->busy = 1;
    for (int i = 0; i < 2000; i++)
        assert_good(add(device, queue, b, b, b, 1024));
    assert_int_equal(cu->launch_count, 2000);
    uint64_t all = plugin->queue_mark(device, queue);
    assert_good(plugin->queue_after(device, other, queue, all, &err));
    assert_good(add(device, other, c, b, b, 1024));
    assert_int_equal(cu->waits, 1);
    assert_int_equal(cu->synchronized, 0);
    assert_good(wait_all(device, queue));
    assert_good(wait_all(device, other));
    plugin->buffer_free(device, b);
    plugin->buffer_free(device, c);
    plugin->queue_destroy(device, other);
}

TEST_WITH(several_devices, open_one, close_one)
{
    cu->devices = 2;
    collet_device *second = open_device(1);
    collet_queue *q = new_queue(second);
    collet_buffer *a = new_buffer(device, 256), *b = new_buffer(second, 256);
    char in[4] = "";
    assert_good(plugin->buffer_write(device, queue, a, 0, "one", 4, &err));
    assert_good(plugin->buffer_write(second, q, b, 0, "two", 4, &err));
    assert_good(add(second, q, b, b, b, 64));
    assert_good(plugin->buffer_read(device, queue, a, 0, in, 4, &err));
    assert_string_equal(in, "one");
    assert_good(plugin->buffer_read(second, q, b, 0, in, 4, &err));
    assert_string_equal(in, "two");
    plugin->buffer_free(device, a);
    plugin->buffer_free(second, b);
    plugin->queue_destroy(second, q);
    plugin->device_close(second);
}

/* ---- Threads --------------------------------------------------------------------------------- */

static void *use_device(void *failed)
{
    collet_queue *q = NULL;
    collet_error why;
    _Atomic int *count = failed;
    if (plugin->queue_create(device, &q, &why) != COLLET_OK) {
        ++*count;
        return NULL;
    }
    for (int i = 0; i < 300; i++) {
        collet_buffer *b = NULL;
        *count += plugin->buffer_alloc(device, &b, 300 + 8 * (uint64_t)(i % 7), &why) != COLLET_OK;
        *count += plugin->buffer_write(device, q, b, 0, &i, sizeof i, &why) != COLLET_OK;
        int back = -1;
        *count += plugin->buffer_read(device, q, b, 0, &back, sizeof back, &why) != COLLET_OK;
        *count += back != i;
        plugin->buffer_free(device, b);
        if (i % 50 == 0)
            trim(device);
    }
    plugin->queue_destroy(device, q);
    return NULL;
}

TEST_WITH(threads, open_one, close_one)
{
    pthread_t all[3];
    _Atomic int failed = 0;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&all[i], NULL, use_device, &failed), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(all[i], NULL), 0);
    assert_int_equal(failed, 0);
}

TEST_WITH(times, open_one, close_one)
{
    static const char *const functions[] = {"EventCreate", "EventRecord"};
    collet_stamp *stamps[2], *none = NULL;
    int64_t ns = 0;
    const collet_timing_extension *timing = plugin->extension(device, COLLET_EXTENSION_TIMING);
    int events = cu->events;
    for (int i = 0; i < 2; i++) {
        inject(functions[i], 0, CUDA_ERROR_OUT_OF_MEMORY);
        assert_int_equal(timing->stamp(device, queue, &none, &err), COLLET_REFUSED);
        assert_int_equal(cu->events, events);
    }
    cu->busy = 1;
    for (int i = 0; i < 2; i++) {
        int waits = cu->synchronized;
        assert_good(timing->stamp(device, queue, &stamps[i], &err));
        assert_int_equal(cu->synchronized, waits);
    }
    cu->busy = 0;
    assert_good(wait_all(device, queue));
    assert_good(timing->elapsed(device, stamps[0], stamps[1], &ns, &err));
    assert_true(ns > 0);
    assert_good(timing->elapsed(device, stamps[1], stamps[0], &ns, &err));
    assert_true(ns < 0);
    inject("EventElapsedTime", 0, CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(timing->elapsed(device, stamps[0], stamps[1], &ns, &err), COLLET_FAILED);
    for (int i = 0; i < 2; i++)
        timing->release(device, stamps[i]);
    timing->release(device, NULL);
    assert_int_equal(cu->events, events);
}

TEST_GROUP(load_plugin, NULL)
