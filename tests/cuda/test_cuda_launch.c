/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs and launches of the cuda backend, and their failures, on the fake driver. No kernel
 * runs.
 */
#include "cuda_fixture.h"

#include <signal.h>
#include <sys/resource.h>

/* ---- Launches -------------------------------------------------------------------------------- */

TEST_WITH(a_launch, open_one, close_one)
{
    void *address = NULL;
    collet_buffer *out = new_buffer(device, 40000), *in = new_buffer(device, 40000);
    assert_good(add(device, queue, out, in, in, 10000));
    assert_good(natives(device)->buffer(device, out, &address, &err));
    assert_string_equal(last_launch()->kernel, "flat");
    assert_int_equal(last_launch()->items, 256);
    assert_int_equal(last_launch()->groups, 10);
    assert_ptr_equal(last_launch()->first, address);
    assert_contains(rtc->options,
                    "--gpu-architecture=sm_90 -std=c++17 -default-device --fmad=false -DGROUP=256 "
                    "-DPER_ITEM=4 -DHAVE_F64=1 -DEXACT_F32=1 -DPROGRAM=add_f32_");
    /* Empty operands launch nothing; a program is compiled once. */
    assert_good(add(device, queue, out, in, in, 0));
    assert_good(add(device, queue, out, in, in, 5));
    assert_int_equal(cu->launch_count, 2);
    assert_int_equal(rtc->compiled, 1);
    assert_int_equal(last_launch()->groups, 1);
    assert_good(wait_all(device, queue));
    trim(device);
    assert_int_equal(cu->modules, 0);
    assert_good(add(device, queue, out, in, in, 5));
    assert_int_equal(rtc->compiled, 2);
    plugin->buffer_free(device, out);
    plugin->buffer_free(device, in);
}

/* out = in + k for `rows` rows of 8 f32; rows start `step` elements apart. */
static collet_status evaluate(collet_buffer *out, collet_buffer *in, int64_t rows, int64_t step, float k)
{
    const int64_t shape[] = {rows, 8}, strides[] = {8, 1}, steps[] = {step, 1};
    collet_operand operands[12] = {[0] = {out, 0, COLLET_F32, 2, shape, strides},
                                   [4] = {in, 0, COLLET_F32, 2, shape, steps}};
    const collet_dtype dtypes[] = {COLLET_F32, COLLET_F32};
    const collet_step add_k = {.op = COLLET_OP_ADD, .dtype = COLLET_F32, .in = {0, 1}};
    const uint16_t result = 2;
    const collet_scalar constant = {.dtype = COLLET_F32, .value.f32 = k};
    const collet_program p = {.struct_size = sizeof p, .n_in = 1, .n_constants = 1, .n_steps = 1, .n_out = 1,
                              .step_size = sizeof add_k, .constant_size = sizeof constant,
                              .dtypes = dtypes, .steps = &add_k, .outs = &result};
    const collet_evaluate_params params = {sizeof params, 0, 0, 0, 0, &p, &constant};
    const collet_kernel_call call = {.struct_size = sizeof call, .op = COLLET_OP_EVALUATE, .n_out = 4,
                                     .n_in = 8, .operand_size = sizeof *operands,
                                     .operands = operands, .params = &params, .err = &err};
    uint64_t workspace = 0;
    for (uint32_t i = 0; i < plugin->kernel_count; i++)
        if (plugin->kernels[i].op == COLLET_OP_EVALUATE)
            return plugin->kernels[i].accepts(device, &call, &workspace) != COLLET_OK
                       ? COLLET_REFUSED
                       : plugin->kernels[i].run(device, queue, &call);
    return COLLET_FAILED;
}

/* A call with a different constant or shape needs no new compilation. */
TEST_WITH(a_program_of_steps, open_one, close_one)
{
    collet_buffer *out = new_buffer(device, 4096), *in = new_buffer(device, 4096);
    assert_good(evaluate(out, in, 4, 8, 1.0f));
    assert_string_equal(last_launch()->kernel, "flat");
    assert_good(evaluate(out, in, 7, 8, 2.0f));
    assert_good(evaluate(out, in, 3, 16, 2.0f));
    assert_string_equal(last_launch()->kernel, "strided");
    assert_int_equal(rtc->compiled, 1);
    assert_good(wait_all(device, queue));
    plugin->buffer_free(device, out);
    plugin->buffer_free(device, in);
}

static void handler(int number)
{
}

/* If a program ignores SIGXFSZ, as Python does, or handles the signal, NVRTC does not change
 * this. */
TEST_WITH(a_signal_of_the_program, open_one, close_one)
{
    static const struct sigaction actions[] = {{.sa_handler = SIG_IGN}, {.sa_handler = handler}};
    collet_buffer *b = new_buffer(device, 256);
    struct sigaction before, after;
    assert_int_equal(sigaction(SIGXFSZ, NULL, &before), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sigaction(SIGXFSZ, &actions[i], NULL), 0);
        assert_good(add(device, queue, b, b, b, 64));
        assert_int_equal(rtc->compiled, i + 1);
        trim(device);
        assert_int_equal(sigaction(SIGXFSZ, NULL, &after), 0);
        assert_ptr_equal(after.sa_handler, actions[i].sa_handler);
    }
    assert_int_equal(sigaction(SIGXFSZ, &before, NULL), 0);
    plugin->buffer_free(device, b);
}

TEST_WITH(a_chip_newer_than_the_compiler, open_one, close_one)
{
    cu->capability = 103;
    collet_device *d = open_device(0);
    collet_queue *q = new_queue(d);
    collet_buffer *b = new_buffer(d, 256);
    assert_good(add(d, q, b, b, b, 64));
    assert_contains(rtc->options, "--gpu-architecture=compute_90 ");
    assert_int_equal(cu->launch_count, 1);
    plugin->buffer_free(d, b);
    plugin->queue_destroy(d, q);
    plugin->device_close(d);
}

/* Asserts which kernel multiplies a batch of 32 tokens. */
static void assert_multiplied_by(const char *kernel)
{
    const int64_t y_shape[] = {32, 32}, w_shape[] = {32, 64}, x_shape[] = {32, 256};
    collet_device *d = open_device(0);
    collet_queue *q = new_queue(d);
    collet_buffer *y = new_buffer(d, 4096), *w = new_buffer(d, 2048), *x = new_buffer(d, 8192);
    const int64_t y_steps[] = {32, 1}, w_steps[] = {64, 1}, x_steps[] = {256, 1};
    const collet_operand operands[] = {{y, 0, COLLET_I32, 2, y_shape, y_steps},
                                       {w, 0, COLLET_U8, 2, w_shape, w_steps},
                                       {x, 0, COLLET_I8, 2, x_shape, x_steps}};
    assert_good(run_row(d, q, COLLET_OP_TERNARY_MATMUL,
                        COLLET_SIG(COLLET_I32, COLLET_U8, COLLET_I8), operands));
    assert_string_equal(last_launch()->kernel, kernel);
    plugin->buffer_free(d, y);
    plugin->buffer_free(d, w);
    plugin->buffer_free(d, x);
    plugin->queue_destroy(d, q);
    plugin->device_close(d);
}

/* Programs for an older architecture lack the tensor instructions. */
TEST_WITH(a_compiler_older_than_tiles, open_one, close_one)
{
    static const int old[] = {70, 75};
    const int *all = rtc->architectures;
    int count = rtc->architecture_count;
    assert_multiplied_by("tensor");
    rtc->architectures = old;
    rtc->architecture_count = 2;
    assert_multiplied_by("tiled");
    rtc->architectures = all;
    rtc->architecture_count = count;
}

TEST_WITH(what_does_not_compile, open_one, close_one)
{
    collet_buffer *b = new_buffer(device, 256);
    rtc->fails = 1;
    for (int i = 0; i < 2; i++) {
        assert_status_is(add(device, queue, b, b, b, 64), COLLET_REFUSED);
        assert_contains(err.text, "elementwise.dev: compilation failed (NVRTC_ERROR_COMPILATION",
                        "the compiler's message");
    }
    /* A program that failed to compile is not compiled again before trim. */
    assert_int_equal(rtc->compiled, 1);
    rtc->fails = 0;
    trim(device);
    rtc->damaged = 1;
    assert_status_is(add(device, queue, b, b, b, 64), COLLET_REFUSED);
    assert_contains(err.text, "elementwise: CUDA_ERROR_INVALID_IMAGE");
    rtc->damaged = 0;
    trim(device);
    inject("ModuleGetFunction", 0, CUDA_ERROR_INVALID_VALUE);
    assert_status_is(add(device, queue, b, b, b, 64), COLLET_REFUSED);
    assert_contains(err.text, "elementwise.dev has no kernel flat");
    assert_good(add(device, queue, b, b, b, 64));
    assert_int_equal(cu->launch_count, 1);
    plugin->buffer_free(device, b);
}

/* If loading a program fails for lack of memory, only that launch fails. */
TEST_WITH(a_shortage_is_not_remembered, open_one, close_one)
{
    collet_buffer *b = new_buffer(device, 256);
    inject("ModuleLoadData", 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_status_is(add(device, queue, b, b, b, 64), COLLET_REFUSED);
    assert_contains(err.text, "CUDA_ERROR_OUT_OF_MEMORY");
    assert_good(add(device, queue, b, b, b, 64));
    plugin->buffer_free(device, b);
}

/* Launches once on a fresh device; returns the number of programs compiled. */
static int compiled_anew(void)
{
    int before = rtc->compiled;
    collet_device *d = open_device(0);
    collet_queue *q = new_queue(d);
    collet_buffer *b = new_buffer(d, 256);
    assert_good(add(d, q, b, b, b, 64));
    plugin->buffer_free(d, b);
    plugin->queue_destroy(d, q);
    plugin->device_close(d);
    return rtc->compiled - before;
}

TEST_WITH(cubins_on_disk, open_one, close_one)
{
    char directory[] = "/tmp/collet-test-cuda-XXXXXX", command[128];
    assert_non_null(mkdtemp(directory));
    set_cache = NULL;
    set_cache_dir = directory;
    /* A write beyond the limit on file size would end the program. */
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    assert_int_equal(compiled_anew(), 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(compiled_anew(), 1);
    assert_int_equal(compiled_anew(), 0);
    /* Each driver, compiler and architecture has its own binary on disk. */
    cu->version = 12060;
    assert_int_equal(compiled_anew(), 1);
    rtc->minor = 6;
    assert_int_equal(compiled_anew(), 1);
    cu->capability = 80;
    assert_int_equal(compiled_anew(), 1);
    cu->capability = 90;
    assert_int_equal(compiled_anew(), 0);
    /* A binary that the driver rejects is compiled again. */
    inject("ModuleLoadData", 0, CUDA_ERROR_INVALID_IMAGE);
    assert_int_equal(compiled_anew(), 1);
    assert_int_equal(compiled_anew(), 0);
    (void)snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

/* ---- Failures on the device ------------------------------------------------------------------ */

TEST_WITH(a_launch_refused, open_one, close_one)
{
    collet_buffer *b = new_buffer(device, 256);
    inject("LaunchKernel", 0, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    assert_status_is(add(device, queue, b, b, b, 64), COLLET_REFUSED);
    assert_contains(err.text, "kernel flat of elementwise (-DPROGRAM=add_f32_",
                    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
    inject("LaunchKernel", 0, CUDA_ERROR_INVALID_VALUE);
    assert_status_is(add(device, queue, b, b, b, 64), COLLET_REFUSED);
    assert_int_equal(err.status, COLLET_REFUSED);
    assert_good(add(device, queue, b, b, b, 64));
    assert_good(wait_all(device, queue));
    plugin->buffer_free(device, b);
}

/* A fault is reported once, with the kernel's name. Only the device with the fault is lost. */
TEST_WITH(a_fault, open_one, close_one)
{
    collet_buffer *a = new_buffer(device, 256), *b = NULL;
    char in[4];
    cu->devices = 2;
    collet_device *second = open_device(1);
    collet_queue *q = new_queue(second);
    assert_good(plugin->buffer_write(device, queue, a, 0, "abc", 4, &err));
    assert_good(wait_all(device, queue));
    cu->faults = 1;
    cu->faults_with = CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_good(add(device, queue, a, a, a, 64));
    assert_status_is(wait_all(device, queue), COLLET_DEVICE_LOST);
    assert_contains(err.text, "kernel flat of elementwise (-DPROGRAM=add_f32_",
                    ") failed: CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_status_is(wait_all(device, queue), COLLET_DEVICE_LOST);
    assert_status_is(add(device, queue, a, a, a, 64), COLLET_DEVICE_LOST);
    assert_contains(err.text, "the device is lost: CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_status_is(plugin->buffer_alloc(device, &b, 100, &err), COLLET_DEVICE_LOST);
    assert_status_is(plugin->buffer_read(device, queue, a, 0, in, 4, &err), COLLET_DEVICE_LOST);
    trim(device);
    /* The other device still works. */
    b = new_buffer(second, 256);
    assert_good(add(second, q, b, b, b, 64));
    assert_good(wait_all(second, q));
    plugin->buffer_free(second, b);
    plugin->queue_destroy(second, q);
    plugin->device_close(second);
    plugin->buffer_free(device, a);
}

/* The message of a fault names all pending commands; with cuda.sync it names only the faulty command. If a
 * read finds the fault, the next wait still reports it. */
TEST_WITH(a_fault_among_others, open_one, close_one)
{
    char in[4];
    for (int sync = 0; sync < 2; sync++) {
        cu->reset();
        set_sync = sync ? "on" : NULL;
        collet_device *d = open_device(0);
        collet_queue *q = new_queue(d);
        collet_buffer *b = new_buffer(d, 256);
        assert_good(plugin->buffer_write(d, q, b, 0, "abc", 4, &err));
        assert_good(add(d, q, b, b, b, 64));
        cu->faults = 1;
        cu->faults_with = CUDA_ERROR_LAUNCH_FAILED;
        assert_good(add(d, q, b, b, b, 64));
        assert_status_is(plugin->buffer_read(d, q, b, 0, in, 4, &err), COLLET_DEVICE_LOST);
        assert_status_is(wait_all(d, q), COLLET_DEVICE_LOST);
        assert_contains(err.text, sync ? "kernel flat of elementwise (-DPROGRAM=add_f32_"
                                       : "one of 3 commands (write, kernel flat of elementwise");
        assert_true(!sync || !strstr(err.text, "one of"));
        assert_contains(err.text, "CUDA_ERROR_LAUNCH_FAILED");
        plugin->buffer_free(d, b);
        plugin->queue_destroy(d, q);
        plugin->device_close(d);
    }
    cu->reset();
}

/* If a command cannot be enqueued, only that command fails. */
TEST_WITH(an_error_that_passes, open_one, close_one)
{
    char in[4];
    collet_buffer *b = new_buffer(device, 256);
    inject("MemcpyHtoDAsync", 0, CUDA_ERROR_INVALID_VALUE);
    assert_status_is(plugin->buffer_write(device, queue, b, 0, "abc", 4, &err), COLLET_FAILED);
    assert_contains(err.text, "write: CUDA_ERROR_INVALID_VALUE");
    assert_good(plugin->buffer_write(device, queue, b, 0, "abc", 4, &err));
    inject("MemcpyDtoHAsync", 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_status_is(plugin->buffer_read(device, queue, b, 0, in, 4, &err), COLLET_FAILED);
    assert_good(plugin->buffer_read(device, queue, b, 0, in, 4, &err));
    cu->busy = 1;
    assert_good(add(device, queue, b, b, b, 16));
    inject("EventSynchronize", 0, CUDA_ERROR_ECC_UNCORRECTABLE);
    assert_status_is(wait_all(device, queue), COLLET_DEVICE_LOST);
    plugin->buffer_free(device, b);
}

/* A queue that cannot be created leaks nothing. */
TEST_WITH(no_queue, open_one, close_one)
{
    collet_queue *q = NULL;
    int streams = cu->streams;
    inject("StreamCreate", 0, CUDA_ERROR_OUT_OF_MEMORY);
    assert_status_is(plugin->queue_create(device, &q, &err), COLLET_FAILED);
    inject("EventCreate", 3, CUDA_ERROR_OUT_OF_MEMORY);
    assert_status_is(plugin->queue_create(device, &q, &err), COLLET_FAILED);
    assert_int_equal(cu->streams, streams);
    /* A destroyed queue is reused. */
    q = new_queue(device);
    plugin->queue_destroy(device, q);
    assert_ptr_equal(new_queue(device), q);
    plugin->queue_destroy(device, q);
    plugin->queue_destroy(device, NULL);
}

TEST_GROUP(load_plugin, NULL)
