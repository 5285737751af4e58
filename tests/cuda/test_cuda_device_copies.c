/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between two GPUs of the fake driver. Its commands complete only when the program waits for
 * them. The fake checks that every command is ordered after its dependencies; `nothing_left` asserts this.
 */
#include "cuda_fixture.h"

#include "collet/extensions.h"

#define N 256
#define BYTES ((uint64_t)N * sizeof(float))

typedef struct gpu {
    collet_device *device;
    collet_queue *queue, *copies;
    collet_buffer *a, *b;
} gpu;

static gpu one, two;

static gpu open_gpu(uint32_t index)
{
    gpu g = {.device = open_device(index)};
    g.queue = new_queue(g.device);
    g.copies = new_queue(g.device);
    g.a = new_buffer(g.device, BYTES);
    g.b = new_buffer(g.device, BYTES);
    return g;
}

static void close_gpu(gpu *g)
{
    plugin->buffer_free(g->device, g->a);
    plugin->buffer_free(g->device, g->b);
    plugin->queue_destroy(g->device, g->queue);
    plugin->queue_destroy(g->device, g->copies);
    plugin->device_close(g->device);
    *g = (gpu){.device = NULL};
}

static int open_two(void **state)
{
    fresh(state);
    cu->devices = 2;
    one = open_gpu(0);
    two = open_gpu(1);
    cu->busy = 1;
    return 0;
}

static int close_two(void **state)
{
    close_gpu(&two);
    close_gpu(&one);
    return nothing_left(state);
}

/* Orders the queue `later` after `earlier`. */
static void order(const gpu *g, collet_queue *earlier, collet_queue *later)
{
    uint64_t value = plugin->queue_mark(g->device, earlier);
    assert_good(plugin->queue_after(g->device, later, earlier, value, &err));
}

/* Copies one.a to two.a. */
static collet_status copy(void)
{
    order(&one, one.queue, one.copies);
    return copies(two.device)
        ->between(two.device, two.queue, two.a, 0, plugin, one.device, one.copies, one.a, 0, BYTES,
                  &err);
}

static void fill(const gpu *g, float value)
{
    assert_good(write_floats(g->device, g->queue, g->a, BYTES, value));
}

static void assert_filled(const gpu *g, float value)
{
    float got[N];
    assert_good(plugin->buffer_read(g->device, g->queue, g->a, 0, got, sizeof got, &err));
    for (int i = 0; i < N; i++)
        assert_true(got[i] == value);
}

TEST_WITH(bytes_arrive_in_order, open_two, close_two)
{
    fill(&one, 3.0f);
    assert_good(copy());
    assert_int_equal(cu->peer_copies, 1);
    assert_int_equal(cu->synchronized, 0);
    /* Later commands of both GPUs may overwrite the buffers if they are ordered after the copy. */
    order(&one, one.copies, one.queue);
    fill(&one, 5.0f);
    assert_good(add(two.device, two.queue, two.b, two.a, two.a, N));
    assert_filled(&two, 3.0f);
    assert_filled(&one, 5.0f);
    fill(&one, 6.0f);
    assert_good(copy());
    assert_filled(&two, 6.0f);
    assert_int_equal(cu->peer_copies, 2);
}

/* The ticket of the copy follows the tickets of launches that a batch holds back, so these are submitted first: a wait for the
 * first of them reports that it failed. */
TEST_WITH(held_launches_precede_a_copy, open_two, close_two)
{
    const collet_batch_extension *batches = plugin->extension(one.device, COLLET_EXTENSION_BATCH);
    cu->busy = 0;
    fill(&one, 3.0f);
    assert_good(wait_all(one.device, one.queue));
    batches->begin(one.device, one.queue, &one);
    assert_good(add(one.device, one.queue, one.b, one.a, one.a, N));
    uint64_t first = plugin->queue_mark(one.device, one.queue);
    assert_good(add(one.device, one.queue, one.b, one.a, one.a, N));
    inject("LaunchKernel", 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    (void)copies(two.device)
        ->between(two.device, two.queue, two.a, 0, plugin, one.device, one.queue, one.a, 0, BYTES,
                  &err);
    batches->end(one.device, one.queue);
    assert_status_is(plugin->queue_wait(one.device, one.queue, first, -1, &err), COLLET_FAILED);
    assert_contains(err.text, "add_f32");
    assert_good(wait_all(two.device, two.queue));
}

TEST_WITH(part_of_a_buffer_is_copied, open_two, close_two)
{
    float got[N], first[N];
    for (int i = 0; i < N; i++)
        first[i] = (float)i;
    fill(&two, -1.0f);
    assert_good(plugin->buffer_write(one.device, one.copies, one.a, 0, first, sizeof first, &err));
    assert_good(copies(two.device)
                    ->between(two.device, two.queue, two.a, 8, plugin, one.device, one.copies,
                              one.a, 4, 12, &err));
    assert_good(plugin->buffer_read(two.device, two.queue, two.a, 0, got, sizeof got, &err));
    const float expected[] = {-1, -1, 1, 2, 3, -1};
    assert_memory_equal(got, expected, sizeof expected);
}

TEST_WITH(gpus_without_peer_access_are_refused, open_two, close_two)
{
    const collet_plugin *another = (const collet_plugin *)(const void *)&one;
    assert_status_is(copies(two.device)
                         ->between(two.device, two.queue, two.a, 0, another, one.device, one.copies,
                                   one.a, 0, BYTES, &err),
                     COLLET_REFUSED);
    assert_contains(err.text, "different backends");
    cu->apart = 1;
    assert_status_is(copy(), COLLET_REFUSED);
    assert_contains(err.text, "cannot read");
    assert_int_equal(cu->peer_copies, 0);
    cu->apart = 0;
    /* While a GPU is open, the backend remembers whether the GPUs can access each other. */
    assert_status_is(copy(), COLLET_REFUSED);
}

TEST_WITH(access_that_was_there_before_is_taken, open_two, close_two)
{
    inject("CtxEnablePeerAccess", 0, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    /* The copy fails: the injected error reports access that the fake has not enabled. */
    assert_status_is(copy(), COLLET_FAILED);
    assert_int_equal(cu->fails_times, 0);
}

TEST_WITH(access_that_is_not_given_is_refused, open_two, close_two)
{
    inject("CtxEnablePeerAccess", 0, CUDA_ERROR_TOO_MANY_PEERS);
    assert_status_is(copy(), COLLET_REFUSED);
    fill(&one, 4.0f);
    assert_filled(&one, 4.0f);
}

TEST_WITH(a_copy_that_is_short_of_something_is_refused, open_two, close_two)
{
    fill(&one, 3.0f);
    inject("MemcpyPeerAsync", 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_status_is(copy(), COLLET_REFUSED);
    assert_good(copy());
    assert_filled(&two, 3.0f);
}

/* If no event can order the source's queue after the copy, the host waits for the copy. */
TEST_WITH(a_way_back_that_fails_is_waited_for, open_two, close_two)
{
    fill(&one, 3.0f);
    order(&one, one.queue, one.copies);
    inject("StreamWaitEvent", 1, CUDA_ERROR_OUT_OF_MEMORY);
    assert_good(copies(two.device)
                    ->between(two.device, two.queue, two.a, 0, plugin, one.device, one.copies,
                              one.a, 0, BYTES, &err));
    assert_true(cu->synchronized > 0);
    fill(&one, 5.0f);
    assert_int_equal(cu->unordered, 0);
    assert_filled(&two, 3.0f);
}

/* A copy from a lost GPU is refused. A copy to a lost GPU returns DEVICE_LOST. */
TEST_WITH(lost_gpus_copy_nothing, open_two, close_two)
{
    cu->faults = 1;
    cu->faults_with = CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_good(add(one.device, one.queue, one.b, one.a, one.a, N));
    assert_status_is(wait_all(one.device, one.queue), COLLET_DEVICE_LOST);
    assert_status_is(copies(two.device)
                         ->between(two.device, two.queue, two.a, 0, plugin, one.device, one.copies,
                                   one.a, 0, BYTES, &err),
                     COLLET_REFUSED);
    assert_status_is(copies(one.device)
                         ->between(one.device, one.queue, one.a, 0, plugin, two.device, two.copies,
                                   two.a, 0, BYTES, &err),
                     COLLET_DEVICE_LOST);
    fill(&two, 2.0f);
    assert_filled(&two, 2.0f);
}

TEST_GROUP(load_plugin, NULL)
