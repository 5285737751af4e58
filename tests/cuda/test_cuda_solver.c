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

/* Calls cholesky for `count` matrices of n x n zeros. `by_columns`: the result is column-major. */
static collet_status run_as(collet_queue *q, collet_dtype dtype, int64_t count, int64_t n,
                            int by_columns)
{
    const int64_t shape[] = {count, n, n}, strides[] = {n * n, n, 1}, one = 1;
    const int64_t lower[] = {n * n, by_columns ? 1 : n, by_columns ? n : 1};
    uint64_t bytes = (uint64_t)(count * n * n) * (dtype == COLLET_F32 ? 4 : 16);
    collet_buffer *buffers[] = {new_buffer(device, bytes), new_buffer(device, (uint64_t)count * 4),
                                new_buffer(device, bytes)};
    const collet_operand operands[] = {{buffers[0], 0, dtype, 3, shape, lower},
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
    return run_as(q, COLLET_F32, count, n, 0);
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

static void run_svd(int64_t m, int64_t n)
{
    int64_t k = m < n ? m : n, one = 1;
    const int64_t shape[] = {m, n}, strides[] = {n, 1}, u[] = {m, k}, u_strides[] = {k, 1},
                  v[] = {k, n};
    uint64_t bytes = (uint64_t)(m * n) * 4;
    collet_buffer *buffers[5];
    for (int i = 0; i < 5; i++)
        buffers[i] = new_buffer(device, bytes);
    const collet_operand operands[] = {{buffers[0], 0, COLLET_F32, 2, u, u_strides},
                                       {buffers[1], 0, COLLET_F32, 1, &k, &one},
                                       {buffers[2], 0, COLLET_F32, 2, v, strides},
                                       {buffers[3], 0, COLLET_I32, 0, NULL, NULL},
                                       {buffers[4], 0, COLLET_F32, 2, shape, strides}};
    assert_good(run_with(device, queue, COLLET_OP_SVD,
                         COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32, COLLET_I32, COLLET_F32), 4,
                         operands, NULL, 0));
    for (int i = 0; i < 5; i++)
        plugin->buffer_free(device, buffers[i]);
}

/* The names of the kernels after the first `before` launches, each followed by a blank. */
static const char *kernels_since(int before)
{
    static char names[1024];
    names[0] = '\0';
    for (int i = before; i < cu->launch_count; i++) {
        strcat(names, cu->launches[i % FAKE_LAUNCHES].kernel);
        strcat(names, " ");
    }
    return names;
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
        assert_good(run_as(queue, dtypes[i], 1, 100, 0));
        assert_good(wait_all(device, queue));
        assert_int_equal(solver->of_complex - before, i < 2 ? 0 : 1);
    }
}

/* If outputs are row-major, cuSOLVER computes in them, and the kernel `finish` corrects them. Else the kernel `store`
 * copies the results to the outputs. */
TEST_WITH(in_place, open_solver, close_solver)
{
    int before = cu->launch_count;
    assert_good(run_as(queue, COLLET_F32, 1, 100, 0));
    assert_string_equal(kernels_since(before), "load check_pivots finish ");
    before = cu->launch_count;
    assert_good(run_as(queue, COLLET_F32, 1, 100, 1));
    assert_string_equal(kernels_since(before), "load check_pivots store ");
    before = cu->launch_count;
    run_svd(100, 100);
    assert_string_equal(kernels_since(before), "measure load check_spectra store finish finish ");
    before = cu->launch_count;
    run_svd(120, 100);
    assert_string_equal(kernels_since(before), "measure load check_spectra store store store ");
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
