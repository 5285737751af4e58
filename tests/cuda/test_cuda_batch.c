/* SPDX-License-Identifier: Apache-2.0 */
/* collet.batch/1: launches that a queue holds back and submits as a graph. The stand-in for NVRTC compiles the kernels
 * for the host. */
#include "cuda_fixture.h"

#include "collet/extensions.h"

#define COUNT 64
#define LAUNCHES 5

static int load_with_compiler(void **state)
{
    setenv("FAKE_NVRTC_CXX", COLLET_TEST_CXX, 1);
    return load_plugin(state);
}

static collet_buffer *memory[4];
static const void *first_key = &memory[0], *second_key = &memory[1];

static const collet_batch_extension *batches(void)
{
    const collet_batch_extension *table = plugin->extension(device, COLLET_EXTENSION_BATCH);
    assert_non_null(table);
    return table;
}

static void make_memory(void)
{
    for (int i = 0; i < 4; i++)
        memory[i] = new_buffer(device, COUNT * sizeof(float));
}

static void free_memory(void)
{
    for (int i = 0; i < 4; i++)
        plugin->buffer_free(device, memory[i]);
}

/* Five launches by way of the others; memory[result] becomes 24 times memory[0]. */
static void launch_all(int result)
{
    int other = 5 - result; /* 2 and 3 */
    assert_good(add(device, queue, memory[1], memory[0], memory[0], COUNT));
    assert_good(add(device, queue, memory[other], memory[1], memory[0], COUNT));
    assert_good(add(device, queue, memory[1], memory[other], memory[other], COUNT));
    assert_good(add(device, queue, memory[other], memory[1], memory[1], COUNT));
    assert_good(add(device, queue, memory[result], memory[other], memory[other], COUNT));
}

static void run_batch(const void *key, int result)
{
    batches()->begin(device, queue, key);
    launch_all(result);
    batches()->end(device, queue);
}

static void check(int result, float first)
{
    float values[COUNT];
    assert_good(plugin->buffer_read(device, queue, memory[result], 0, values, sizeof values, &err));
    assert_good(wait_all(device, queue));
    for (int i = 0; i < COUNT; i++)
        assert_true(values[i] == 24 * first);
}

static void fill(float value)
{
    assert_good(write_floats(device, queue, memory[0], COUNT * sizeof(float), value));
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST_WITH(one_launch_of_the_driver, open_one, close_one)
{
    make_memory();
    fill(1);
    batches()->begin(device, queue, first_key);
    launch_all(3);
    uint64_t mark = plugin->queue_mark(device, queue);
    assert_int_equal(cu->launch_count, 0);
    batches()->end(device, queue);
    assert_int_equal(cu->launch_count, LAUNCHES);
    assert_int_equal(cu->graph_launches, 1);
    assert_good(plugin->queue_wait(device, queue, mark, -1, &err));
    check(3, 1);
    /* The same kernels and buffers: nothing is set. Another result: four launches read or write other buffers. */
    fill(2);
    run_batch(first_key, 3);
    check(3, 2);
    assert_int_equal(cu->graph_updates, 0);
    run_batch(first_key, 2);
    check(2, 2);
    assert_int_equal(cu->graph_updates, LAUNCHES - 1);
    assert_int_equal(cu->graph_launches, 3);
    assert_int_equal(cu->graphs, 2);
    /* Without a batch, launches are launches. */
    launch_all(3);
    assert_int_equal(cu->graph_launches, 3);
    assert_int_equal(cu->launch_count, 4 * LAUNCHES);
    /* Fewer launches than a graph is worth. */
    batches()->begin(device, queue, second_key);
    assert_good(add(device, queue, memory[1], memory[0], memory[0], COUNT));
    batches()->end(device, queue);
    batches()->end(device, queue);
    assert_int_equal(cu->launch_count, 4 * LAUNCHES + 1);
    assert_int_equal(cu->graph_launches, 3);
    free_memory();
}

/* Commands, waits and other queues see what was enqueued before them. */
TEST_WITH(order, open_one, close_one)
{
    collet_queue *other = new_queue(device);
    make_memory();
    for (int round = 0; round < 3; round++) {
        fill(3);
        batches()->begin(device, queue, first_key);
        launch_all(3);
        check(3, 3); /* a read */
        launch_all(2);
        assert_good(
            plugin->queue_wait(device, queue, plugin->queue_mark(device, queue), 1000000000, &err));
        assert_int_equal(cu->launch_count, (4 * round + 2) * LAUNCHES);
        launch_all(3);
        assert_good(
            plugin->queue_after(device, other, queue, plugin->queue_mark(device, queue), &err));
        assert_int_equal(cu->launch_count, (4 * round + 3) * LAUNCHES);
        launch_all(2);
        assert_good(
            plugin->queue_after(device, queue, other, plugin->queue_mark(device, other), &err));
        assert_int_equal(cu->launch_count, (4 * round + 4) * LAUNCHES);
        batches()->end(device, queue);
        check(2, 3);
    }
    assert_int_equal(cu->graph_launches, 12);
    assert_int_equal(cu->graph_updates, 0);
    plugin->queue_destroy(device, other);
    free_memory();
}

/* If the driver makes no graph, the launches are submitted one by one. */
TEST_WITH(failures_of_graphs, open_one, close_one)
{
    static const char *const functions[] = {"GraphCreate", "GraphAddKernelNode", "GraphInstantiate",
                                            "GraphLaunch", "GraphSetParams"};
    make_memory();
    for (int i = 0; i < 5; i++) {
        fill((float)i);
        run_batch(functions[i], 3);
        check(3, (float)i);
        inject(functions[i], i == 1 ? 2 : 0, CUDA_ERROR_OUT_OF_MEMORY);
        run_batch(i < 3 ? &functions[i] : (const void *)functions[i], 2);
        check(2, (float)i);
        assert_int_equal(cu->fails_times, 0);
        assert_int_equal(cu->launch_count, 2 * (i + 1) * LAUNCHES);
        run_batch(functions[i], 3);
        check(3, (float)i);
        cu->launch_count = 2 * (i + 1) * LAUNCHES;
    }
    free_memory();
}

/* An error of a launch is reported by the next wait. */
TEST_WITH(failure_of_a_launch, open_one, close_one)
{
    make_memory();
    fill(1);
    batches()->begin(device, queue, first_key);
    assert_good(add(device, queue, memory[1], memory[0], memory[0], COUNT));
    inject("LaunchKernel", 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    batches()->end(device, queue);
    assert_status_is(wait_all(device, queue), COLLET_FAILED);
    assert_contains(err.text, "add_f32");
    free_memory();
}

/* Kernels that change all the time are not worth graphs. */
TEST_WITH(other_kernels, open_one, close_one)
{
    make_memory();
    for (int i = 0; i < 20; i++) {
        fill(1);
        batches()->begin(device, queue, first_key);
        launch_all(3);
        if (i % 2)
            assert_good(add(device, queue, memory[1], memory[0], memory[0], COUNT / 2));
        batches()->end(device, queue);
        check(3, 1);
    }
    assert_in_range(cu->graph_launches, 4, 8);
    free_memory();
}

/* The device's memory is trimmed, and the queue destroyed, while launches are held. */
TEST_WITH(trim_and_end, open_one, close_one)
{
    make_memory();
    fill(5);
    run_batch(first_key, 3);
    batches()->begin(device, queue, first_key);
    launch_all(2);
    trim(device);
    assert_int_equal(cu->launch_count, 2 * LAUNCHES);
    assert_int_equal(cu->graphs, 0);
    assert_int_equal(cu->modules, 0);
    check(2, 5);
    launch_all(3);
    batches()->end(device, queue);
    check(3, 5);
    batches()->begin(device, queue, second_key);
    launch_all(3);
    plugin->queue_destroy(device, queue);
    assert_int_equal(cu->launch_count, 4 * LAUNCHES);
    queue = new_queue(device); /* the same object, without a batch */
    launch_all(3);
    assert_int_equal(cu->launch_count, 5 * LAUNCHES);
    check(3, 5);
    free_memory();
}

/* More launches than a graph has. */
TEST_WITH(long_batches, open_one, close_one)
{
    make_memory();
    fill(1);
    for (int round = 0; round < 2; round++) {
        batches()->begin(device, queue, first_key);
        for (int i = 0; i < 120; i++)
            launch_all(3);
        batches()->end(device, queue);
        check(3, 1);
    }
    assert_int_equal(cu->launch_count, 2 * 120 * LAUNCHES);
    assert_int_equal(cu->graph_launches, 6);
    free_memory();
}

static int open_in_sync(void **state)
{
    fresh(state);
    set_sync = "on";
    device = open_device(0);
    queue = new_queue(device);
    return 0;
}

TEST_WITH(setting_sync, open_in_sync, close_one)
{
    make_memory();
    fill(1);
    batches()->begin(device, queue, first_key);
    launch_all(3);
    assert_int_equal(cu->launch_count, LAUNCHES);
    batches()->end(device, queue);
    assert_int_equal(cu->graph_launches, 0);
    free_memory();
}

TEST_GROUP(load_with_compiler, NULL)
