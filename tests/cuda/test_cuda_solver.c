/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which decompositions of the cuda backend call cuSOLVER; a stand-in counts the calls.
 * Kernels do not run here. cuda_host_cusolver checks the results.
 */
#include "cuda_fixture.h"

static fake_cusolver_control *solver;

static int open_solver(void **state)
{
    fresh(state);
    solver = symbol_of(FAKE_CUSOLVER, "fake_cusolver");
    solver->create_fails = solver->fails = solver->computed = solver->wrong = 0;
    set_cusolver = FAKE_CUSOLVER;
    device = open_device(0);
    queue = new_queue(device);
    return 0;
}

static int close_solver(void **state)
{
    int left = close_one(state);
    if (solver->handles || solver->wrong)
        print_error("%d handles left, %d wrong calls\n", solver->handles, solver->wrong);
    return solver->handles || solver->wrong ? -1 : left;
}

/* cholesky of `count` matrices of n x n numbers, which are 0. */
static collet_status run_with_dtype(collet_queue *q, collet_dtype dtype, int64_t count, int64_t n)
{
    const int64_t shape[] = {count, n, n}, strides[] = {n * n, n, 1}, one = 1;
    uint64_t bytes = (uint64_t)(count * n * n) * (dtype == COLLET_F32 ? 4 : 16);
    collet_buffer *buffers[] = {new_buffer(device, bytes), new_buffer(device, (uint64_t)count * 4),
                                new_buffer(device, bytes)};
    const collet_operand operands[] = {{buffers[0], 0, dtype, 3, shape, strides},
                                       {buffers[1], 0, COLLET_I32, 1, shape, &one},
                                       {buffers[2], 0, dtype, 3, shape, strides}};
    collet_status status = run_with(device, q, COLLET_OP_CHOLESKY,
                                    COLLET_SIG(dtype, COLLET_I32, dtype), 2, operands, NULL, 0);
    for (int i = 0; i < 3; i++)
        plugin->buffer_free(device, buffers[i]);
    return status;
}

static collet_status run_cholesky(collet_queue *q, int64_t count, int64_t n)
{
    return run_with_dtype(q, COLLET_F32, count, n);
}

/* Returns the number of library calls. */
static int calls_for(collet_queue *q, int64_t count, int64_t n)
{
    int before = solver->computed, launched = cu->launch_count;
    assert_good(run_cholesky(q, count, n));
    assert_good(wait_all(device, q));
    assert_true(cu->launch_count > launched);
    return solver->computed - before;
}

static void reopen(void)
{
    plugin->queue_destroy(device, queue);
    plugin->device_close(device);
    device = open_device(0);
    queue = new_queue(device);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST_WITH(which_serves, open_solver, close_solver)
{
    assert_int_equal(calls_for(queue, 1, 95), 0);
    assert_int_equal(calls_for(queue, 1, 96), 1);
    assert_int_equal(calls_for(queue, 3, 100), 3);
    assert_int_equal(calls_for(queue, 95, 4), 0);
}

TEST_WITH(each_dtype, open_solver, close_solver)
{
    static const collet_dtype dtypes[] = {COLLET_F32, COLLET_F64, COLLET_C64, COLLET_C128};
    for (int i = 0; i < 4; i++) {
        int before = solver->of_complex;
        assert_good(run_with_dtype(queue, dtypes[i], 1, 100));
        assert_good(wait_all(device, queue));
        assert_int_equal(solver->of_complex - before, i < 2 ? 0 : 1);
    }
}

TEST_WITH(batched, open_solver, close_solver)
{
    set_from = "2";
    reopen();
    assert_int_equal(calls_for(queue, 1, 4), 1);
    /* 3 x 3 is computed by Collet's kernel. */
    assert_int_equal(calls_for(queue, 5, 3), 0);
    /* The fake rejects the pointers, because the kernel that writes them does not run. */
    assert_status_is(run_cholesky(queue, 5, 4), COLLET_FAILED);
    assert_contains(err.text, "cusolverDnpotrfBatched: status");
}

TEST_WITH(handles, open_solver, close_solver)
{
    collet_queue *other = new_queue(device);
    assert_int_equal(calls_for(queue, 1, 100), 1);
    /* The backend has one handle for sizes, two for its infos, and one for the queue. */
    assert_int_equal(solver->handles, 4);
    assert_int_equal(calls_for(queue, 1, 120), 1);
    assert_int_equal(solver->handles, 4);
    assert_int_equal(calls_for(other, 1, 100), 1);
    assert_int_equal(solver->handles, 5);
    trim(device);
    assert_int_equal(solver->handles, 3);
    assert_int_equal(calls_for(queue, 1, 100), 1);
    plugin->queue_destroy(device, other);
}

TEST_WITH(fails, open_solver, close_solver)
{
    solver->create_fails = 1;
    assert_int_equal(calls_for(queue, 1, 100), 0);
    solver->create_fails = 0;
    assert_int_equal(calls_for(queue, 1, 100), 1);
    solver->fails = 6; /* CUSOLVER_STATUS_EXECUTION_FAILED */
    assert_status_is(run_cholesky(queue, 1, 100), COLLET_FAILED);
    assert_contains(err.text, "cusolverDnpotrf: status 6");
    solver->fails = 2; /* CUSOLVER_STATUS_ALLOC_FAILED: Collet's kernel is used */
    assert_good(run_cholesky(queue, 1, 100));
    solver->fails = 0;
    assert_int_equal(calls_for(queue, 1, 100), 1);
}

TEST_GROUP(load_plugin, NULL)
