/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transfers through page-locked memory on the fake driver. It delays such copies, so the bytes are wrong
 * if the backend overwrites a staging piece too early.
 */

#include "common/support.h"

#include "cuda_fixture.h"

#define NOT_STAGED (64u << 10) /* transfers of at most this many bytes are not staged */
#define PIECE 20480u
#define MOST (NOT_STAGED + 10 * PIECE)

static unsigned char sent[MOST + 64], got[MOST + 64];

static int open_staged(void **state)
{
    int status;
    (void)fresh(state);
    host_said[0] = 0;
    set_staging = "20480";
    device = open_device(0);
    queue = new_queue(device);
    status = device && queue ? 0 : -1;
    cu->busy = 1;
    return status;
}

static void make_bytes(uint64_t bytes, unsigned seed)
{
    for (uint64_t i = 0; i < bytes; i++)
        sent[i] = (unsigned char)((i * 2654435761u + seed) >> 11);
}

/* Writes, overwrites the source, reads. */
static void round_trip(collet_buffer *b, uint64_t offset, uint64_t bytes, unsigned seed)
{
    make_bytes(bytes, seed);
    assert_good(plugin->buffer_write(device, queue, b, offset, sent, bytes, &err));
    memset(sent, 0xaa, bytes);
    memset(got, 0x55, bytes + 64);
    assert_good(plugin->buffer_read(device, queue, b, offset, got, bytes, &err));
    make_bytes(bytes, seed);
    assert_memory_equal(got, sent, bytes);
    for (int i = 0; i < 64; i++)
        assert_int_equal(got[bytes + (uint64_t)i], 0x55);
}

TEST_WITH(bytes_of_any_number_arrive, open_staged, close_one)
{
    static const uint64_t sizes[] = {NOT_STAGED + 1,
                                     4 * PIECE - 1,
                                     4 * PIECE,
                                     4 * PIECE + 1,
                                     5 * PIECE,
                                     7 * PIECE + 13,
                                     MOST,
                                     NOT_STAGED + PIECE / 2,
                                     4 * PIECE + PIECE / 2};
    collet_buffer *b = new_buffer(device, MOST + 32);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        round_trip(b, 0, sizes[i], i);
        round_trip(b, 32, sizes[i], i + 100);
    }
    assert_int_equal(cu->host_allocations, 2);
    plugin->buffer_free(device, b);
}

TEST_WITH(few_bytes_are_left_to_the_driver, open_staged, close_one)
{
    collet_buffer *b = new_buffer(device, NOT_STAGED);
    round_trip(b, 0, NOT_STAGED, 1);
    round_trip(b, 16, 1, 2);
    assert_int_equal(cu->host_allocations, 0);
    plugin->buffer_free(device, b);
}

/* A write waits for a staging piece, never for the queue, and is ordered before later commands. */
TEST_WITH(a_write_returns_before_it_is_done, open_staged, close_one)
{
    const uint64_t bytes = 6 * PIECE;
    collet_buffer *b = new_buffer(device, bytes);
    make_bytes(bytes, 3);
    assert_good(plugin->buffer_write(device, queue, b, 0, sent, bytes, &err));
    assert_int_equal(cu->synchronized, 6 - 2);
    assert_good(plugin->buffer_read(device, queue, b, 0, got, bytes, &err));
    assert_memory_equal(got, sent, bytes);
    plugin->buffer_free(device, b);
}

TEST_WITH(a_read_comes_after_what_is_enqueued, open_staged, close_one)
{
    const uint64_t bytes = 5 * PIECE;
    collet_buffer *b = new_buffer(device, bytes);
    make_bytes(bytes, 4);
    assert_good(plugin->buffer_write(device, queue, b, 0, sent, bytes, &err));
    unsigned char sevens[1000];
    memset(sevens, 7, sizeof sevens);
    assert_good(plugin->buffer_write(device, queue, b, 100, sevens, sizeof sevens, &err));
    assert_good(plugin->buffer_read(device, queue, b, 0, got, bytes, &err));
    memset(sent + 100, 7, 1000);
    assert_memory_equal(got, sent, bytes);
    plugin->buffer_free(device, b);
}

TEST_WITH(the_memory_goes_back_with_a_trim, open_staged, close_one)
{
    collet_buffer *b = new_buffer(device, MOST);
    round_trip(b, 0, MOST, 5);
    make_bytes(MOST, 6);
    assert_good(plugin->buffer_write(device, queue, b, 0, sent, MOST, &err));
    trim(device);
    assert_int_equal(cu->host_allocations, 0);
    assert_good(plugin->buffer_read(device, queue, b, 0, got, MOST, &err));
    assert_memory_equal(got, sent, MOST);
    assert_int_equal(cu->host_allocations, 2);
    plugin->buffer_free(device, b);
}

TEST_WITH(without_page_locked_memory_the_driver_copies, open_staged, close_one)
{
    collet_buffer *b = new_buffer(device, MOST);
    for (int first = 0; first < 2; first++) {
        cu->fails = "MemHostAlloc";
        cu->fails_after = first;
        cu->fails_times = 1;
        cu->fails_with = CUDA_ERROR_OUT_OF_MEMORY;
        host_said[0] = 0;
        round_trip(b, 0, MOST, 7);
        assert_contains(host_said, "cuda: cannot allocate 20480 bytes of page-locked memory");
        /* Allocated once, until trim. */
        host_said[0] = 0;
        round_trip(b, 0, MOST, 8);
        assert_string_equal(host_said, "");
        assert_int_equal(cu->host_allocations, first);
        trim(device);
        assert_int_equal(cu->host_allocations, 0);
    }
    round_trip(b, 0, MOST, 9);
    assert_int_equal(cu->host_allocations, 2);
    plugin->buffer_free(device, b);
}

TEST_WITH(what_is_page_locked_needs_no_piece, open_staged, close_one)
{
    void *own = NULL;
    collet_buffer *b = new_buffer(device, MOST);
    CUresult (*take)(void **, size_t, unsigned) = symbol_of(FAKE_CUDA, "cuMemHostAlloc");
    CUresult (*give)(void *) = symbol_of(FAKE_CUDA, "cuMemFreeHost");
    CUresult (*enter)(CUcontext) = symbol_of(FAKE_CUDA, "cuCtxPushCurrent_v2");
    CUresult (*leave)(CUcontext *) = symbol_of(FAKE_CUDA, "cuCtxPopCurrent_v2");
    collet_native_device native = {.struct_size = sizeof native};
    CUcontext left;
    assert_good(natives(device)->device(device, &native, &err));
    assert_int_equal(enter(native.context), CUDA_SUCCESS);
    assert_int_equal(take(&own, MOST, 0), CUDA_SUCCESS);
    assert_int_equal(leave(&left), CUDA_SUCCESS);
    make_bytes(MOST, 10);
    memcpy(own, sent, MOST);
    assert_good(plugin->buffer_write(device, queue, b, 0, own, MOST, &err));
    memset(own, 0, MOST);
    assert_good(plugin->buffer_read(device, queue, b, 0, own, MOST, &err));
    assert_memory_equal(own, sent, MOST);
    assert_int_equal(cu->host_allocations, 1);
    give(own);
    plugin->buffer_free(device, b);
}

TEST_WITH(a_piece_that_fails_ends_the_transfer, open_staged, close_one)
{
    collet_buffer *b = new_buffer(device, MOST);
    make_bytes(MOST, 11);
    inject("MemcpyHtoDAsync", 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_status_is(plugin->buffer_write(device, queue, b, 0, sent, MOST, &err), COLLET_REFUSED);
    inject("MemcpyHtoDAsync", 3, CUDA_ERROR_OUT_OF_MEMORY);
    assert_status_is(plugin->buffer_write(device, queue, b, 0, sent, MOST, &err), COLLET_FAILED);
    inject("MemcpyDtoHAsync", 3, CUDA_ERROR_OUT_OF_MEMORY);
    assert_status_is(plugin->buffer_read(device, queue, b, 0, got, MOST, &err), COLLET_FAILED);
    round_trip(b, 0, MOST, 12);
    plugin->buffer_free(device, b);
}

TEST_WITH(a_lost_device_is_reported, open_staged, close_one)
{
    collet_buffer *b = new_buffer(device, MOST);
    round_trip(b, 0, MOST, 13);
    cu->faults = 1;
    cu->faults_with = CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_good(add(device, queue, b, b, b, 16));
    assert_status_is(plugin->buffer_read(device, queue, b, 0, got, MOST, &err), COLLET_DEVICE_LOST);
    assert_contains(err.text, "kernel flat of elementwise");
    assert_status_is(plugin->buffer_write(device, queue, b, 0, sent, MOST, &err),
                     COLLET_DEVICE_LOST);
    plugin->buffer_free(device, b);
}

TEST_WITH(it_can_be_off, open_staged, close_one)
{
    plugin->queue_destroy(device, queue);
    plugin->device_close(device);
    set_staging = "off";
    device = open_device(0);
    queue = new_queue(device);
    collet_buffer *b = new_buffer(device, MOST);
    round_trip(b, 0, MOST, 14);
    assert_int_equal(cu->host_allocations, 0);
    plugin->buffer_free(device, b);
}

/* libcore counts bytes, not pieces. */
TEST(bytes_are_counted_once)
{
    static const char *const settings[] = {"cuda.library=" FAKE_CUDA,
                                           "cuda.nvrtc=" FAKE_NVRTC,
                                           "cuda.cublas=off",
                                           "cuda.staging=20480",
                                           "cache=off",
                                           NULL};
    static float values[50000], back[50000];
    const int64_t n = 50000;
    collet_array *a = NULL;
    fresh(state);
    collet_runtime *rt = runtime_with(CUDA_PLUGIN, settings);
    collet_context *cx = context_of(rt);
    for (int i = 0; i < 50000; i++)
        values[i] = (float)i;
    assert_ok(cx, collet_array_from(cx, &a, COLLET_F32, 1, &n, values));
    assert_ok(cx, collet_op_neg(cx, a, a));
    assert_ok(cx, collet_array_read(cx, a, back, sizeof back));
    assert_int_equal(counters_of(cx).bytes_to_device, sizeof values);
    assert_int_equal(counters_of(cx).bytes_to_host, sizeof values);
    assert_int_equal(cu->host_allocations, 4);
    collet_array_destroy(a);
    collet_context_destroy(cx);
    collet_runtime_destroy(rt);
    assert_int_equal(nothing_left(state), 0);
}

TEST_GROUP(load_plugin, NULL)
