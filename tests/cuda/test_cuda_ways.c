/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which implementation the cuda backend chooses for a call, by the setting cuda.ways, by a calibration, or by
 * default. Also tests the report of collet.explain/1. The driver and its libraries are fakes. Collet's kernels do not
 * run here, so results are not compared; the tests cuda_host_* compare them.
 */
#include "cuda_fixture.h"

static fake_cublas_control *blas;
static fake_cusolver_control *solver;
static fake_cufft_control *fft;

static void open_both(const char *ways, const char *calibrated)
{
    set_ways = ways;
    set_calibrated = calibrated;
    device = open_device(0);
    queue = new_queue(device);
}

static void close_both(void)
{
    plugin->queue_destroy(device, queue);
    plugin->device_close(device);
}

static int open_libraries(void **state)
{
    fresh(state);
    blas = symbol_of(FAKE_CUBLAS, "fake_cublas");
    solver = symbol_of(FAKE_CUSOLVER, "fake_cusolver");
    fft = symbol_of(FAKE_CUFFT, "fake_cufft");
    blas->fails = solver->create_fails = solver->fails = 0;
    fft->create_fails = fft->plan_fails = fft->exec_fails = 0;
    set_cublas = FAKE_CUBLAS;
    set_cusolver = FAKE_CUSOLVER;
    set_cufft = FAKE_CUFFT;
    open_both(NULL, NULL);
    return 0;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

enum { MATMUL, CHOLESKY, FFT };

/* A call in f32 (fft: c64). It computes `count` products of n x n matrices, `count` decompositions of n x n matrices,
 * or `count` transforms of n numbers. */
typedef struct some_call {
    int64_t shape[3], strides[3], row[2], row_strides[2];
    collet_operand operands[3];
    collet_fft_params params;
    collet_kernel_call call;
} some_call;

static void make(some_call *c, int op, int64_t count, int64_t n, collet_buffer *const *buffers)
{
    *c = (some_call){.shape = {count, n, n},
                     .strides = {n * n, n, 1},
                     .row = {count, n},
                     .row_strides = {op == FFT ? n : 1, 1},
                     .params = {.struct_size = sizeof c->params, .last_axes = 1}};
    for (int k = 0; k < 3; k++)
        c->operands[k] =
            (collet_operand){buffers ? buffers[k] : NULL, 0, COLLET_F32, 3, c->shape, c->strides};
    c->call = (collet_kernel_call){.struct_size = sizeof c->call,
                                   .op = COLLET_OP_MATMUL,
                                   .sig = COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32),
                                   .n_out = 1,
                                   .n_in = 2,
                                   .operand_size = sizeof *c->operands,
                                   .operands = c->operands,
                                   .err = &err};
    if (op == CHOLESKY) {
        c->operands[1].dtype = COLLET_I32;
        c->operands[1].ndim = 1;
        c->operands[1].shape = c->row;
        c->operands[1].strides = c->row_strides;
        c->call.op = COLLET_OP_CHOLESKY;
        c->call.sig = COLLET_SIG(COLLET_F32, COLLET_I32, COLLET_F32);
        c->call.n_out = 2;
        c->call.n_in = 1;
    } else if (op == FFT) {
        for (int k = 0; k < 2; k++)
            c->operands[k] = (collet_operand){
                buffers ? buffers[k] : NULL, 0, COLLET_C64, 2, c->row, c->row_strides};
        c->call.op = COLLET_OP_FFT;
        c->call.sig = COLLET_SIG(COLLET_C64, COLLET_C64);
        c->call.n_in = 1;
        c->call.params = &c->params;
        c->call.params_size = sizeof c->params;
    }
}

/* Runs the call and returns whether a library computed it. */
static int by_library(int op, int64_t count, int64_t n)
{
    some_call c;
    uint64_t bytes = (uint64_t)(count * n * (op == FFT ? 2 : n)) * 4;
    collet_buffer *buffers[3];
    int before = blas->products + solver->computed + fft->executed, launched = cu->launch_count;
    for (int k = 0; k < 3; k++)
        buffers[k] = new_buffer(device, bytes);
    make(&c, op, count, n, buffers);
    assert_good(run_call(device, queue, &c.call));
    assert_good(wait_all(device, queue));
    for (int k = 0; k < 3; k++)
        plugin->buffer_free(device, buffers[k]);
    int by = blas->products + solver->computed + fft->executed - before;
    assert_true(by || cu->launch_count > launched);
    return by;
}

static const char *explained(int op, int64_t count, int64_t n)
{
    static char text[1024];
    const collet_explain_extension *e = plugin->extension(device, COLLET_EXTENSION_EXPLAIN);
    some_call c;
    assert_non_null(e);
    make(&c, op, count, n, NULL);
    memset(text, 'x', sizeof text);
    e->explain(device, &c.call, text, sizeof text);
    return text;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST_WITH(the_usual_ways, open_libraries, close_one)
{
    assert_true(by_library(MATMUL, 1, 40));
    assert_true(by_library(FFT, 1, 64));
    assert_true(by_library(CHOLESKY, 1, 96));
    assert_false(by_library(CHOLESKY, 1, 64));
    assert_contains(explained(MATMUL, 1, 40), "cuBLAS ",
                    COLLET_TEST_FAKES "/libfake_cublas.so; library is the "
                                      "default; f32 was not measured here");
    assert_contains(explained(FFT, 2, 64), "/libfake_cufft.so; library is the default; "
                                           "fft-c64-batch was not measured here");
    assert_contains(explained(CHOLESKY, 1, 96), "/libfake_cusolver.so; library is the default; "
                                                "cholesky-f32 was not measured here");
    assert_string_equal(explained(CHOLESKY, 2, 64), "own kernels; own is the default; "
                                                    "cholesky-f32-batch was not measured here");
    assert_string_equal(explained(MATMUL, 1, 8), "own kernels; cuBLAS does not support the call");
    assert_string_equal(explained(CHOLESKY, 1, 3),
                        "own kernels; cuSOLVER does not support the call");
}

TEST_WITH(the_setting_decides, open_libraries, close_one)
{
    close_both();
    open_both("own", NULL);
    assert_false(by_library(MATMUL, 1, 40));
    assert_false(by_library(FFT, 1, 64));
    assert_false(by_library(CHOLESKY, 1, 96));
    assert_string_equal(explained(MATMUL, 1, 40), "own kernels; chosen by the setting cuda.ways");
    assert_string_equal(explained(FFT, 1, 64), "own kernels; chosen by the setting cuda.ways");
    close_both();
    open_both("fft=own cholesky=library", NULL);
    assert_true(by_library(MATMUL, 1, 40));
    assert_false(by_library(FFT, 1, 64));
    assert_true(by_library(CHOLESKY, 1, 64));
    assert_contains(explained(CHOLESKY, 1, 64), "; chosen by the setting cuda.ways");
    /* 80 small matrices take one batched call of cuSOLVER, because a call for each matrix would be
     * too slow. */
    assert_contains(explained(CHOLESKY, 80, 4), "/libfake_cusolver.so; chosen by the setting");
    assert_string_equal(explained(CHOLESKY, 1, 3),
                        "own kernels; cuSOLVER does not support the call");
}

TEST_WITH(the_calibration_decides, open_libraries, close_one)
{
    static const char rates[] =
        "f32/40:own=3,library=2 f32-batch/40:own=2,library=3 fft-c64/64:own=3,library=2 "
        "cholesky-f32/64:own=1,library=2 cholesky-f32/200:own=2,library=1";
    close_both();
    open_both(NULL, rates);
    assert_false(by_library(MATMUL, 1, 40));
    assert_true(by_library(MATMUL, 3, 40));
    assert_false(by_library(FFT, 1, 64));
    assert_true(by_library(FFT, 2, 64));
    assert_true(by_library(CHOLESKY, 1, 64));
    assert_false(by_library(CHOLESKY, 1, 150));
    assert_string_equal(explained(MATMUL, 1, 40),
                        "own kernels; backend-bench calibrate measured for "
                        "f32 at side 40: own 3, library 2 GF/s");
    assert_contains(explained(CHOLESKY, 1, 64),
                    "; backend-bench calibrate measured for cholesky-f32 "
                    "at side 64: own 1, library 2");
    close_both();
    open_both("library", rates);
    assert_true(by_library(MATMUL, 1, 40));
}

/* Calibrated rates of the first GPU are not used for a GPU with another name. */
TEST_WITH(another_gpu, open_libraries, close_one)
{
    static const char rates[] = "f32/40:own=3,library=2";
    close_both();
    cu->devices = 2;
    cu->twins = 1;
    set_calibrated = rates;
    device = open_device(1);
    queue = new_queue(device);
    assert_string_equal(explained(MATMUL, 1, 40),
                        "own kernels; backend-bench calibrate measured for "
                        "f32 at side 40: own 3, library 2 GF/s");
    close_both();
    cu->twins = 0;
    device = open_device(1);
    queue = new_queue(device);
    assert_contains(explained(MATMUL, 1, 40), "; library is the default");
}

TEST_WITH(what_is_not_there, open_libraries, close_one)
{
    close_both();
    set_cublas = "off";
    set_cusolver = "/nowhere/libcusolver.so";
    open_both("library", NULL);
    assert_false(by_library(MATMUL, 1, 40));
    assert_string_equal(explained(MATMUL, 1, 40),
                        "own kernels; cuBLAS is off by the setting cuda.cublas");
    assert_string_equal(explained(CHOLESKY, 1, 64), "own kernels; cuSOLVER was not found");
    fft->plan_fails = 16; /* CUFFT_NOT_SUPPORTED */
    assert_string_equal(explained(FFT, 1, 64), "own kernels; cuFFT declines the call");
}

/* Collet's kernels compute if a library is switched off or missing, or if the named file is a
 * different library. */
TEST_WITH(missing_libraries, open_libraries, close_one)
{
    static const struct {
        const char **setting;
        int op, side;
    } libraries[] = {{&set_cublas, MATMUL, 40}, {&set_cusolver, CHOLESKY, 96}, {&set_cufft, FFT, 64}};
    static const char *const paths[] = {"off", "/nowhere/lib.so", "libm.so.6"};
    static const char *const messages[] = {"", "/nowhere/lib.so not found", "libm.so.6 lacks cu"};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            close_both();
            *libraries[k].setting = paths[i];
            *host_said = '\0';
            open_both(NULL, NULL);
            assert_false(by_library(libraries[k].op, 1, libraries[k].side));
            assert_contains(host_said, messages[i]);
        }
}

TEST_GROUP(load_plugin, NULL)
