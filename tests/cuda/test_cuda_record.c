/* SPDX-License-Identifier: Apache-2.0 */
/* collet.record/1 of the cuda backend on the stand-in for the driver, which ends a capture where
 * the real one would, and counts graphs that outlive what they use. */
#include "cuda_fixture.h"

#include <collet/extensions.h>

#define N 64

static const collet_record_extension *record;
static collet_buffer *out, *a, *b;

static int open_recording(void **state)
{
    open_one(state);
    record = plugin->extension(device, COLLET_EXTENSION_RECORD);
    assert_non_null(record);
    collet_buffer **all[] = {&out, &a, &b};
    for (int i = 0; i < 3; i++) {
        *all[i] = new_buffer(device, N * sizeof(float));
        assert_good(write_floats(device, queue, *all[i], N * sizeof(float), 1));
    }
    /* What the kernel needs is made by the first call. */
    assert_good(add(device, queue, out, a, b, N));
    assert_good(wait_all(device, queue));
    return 0;
}

static int close_recording(void **state)
{
    plugin->queue_wait(device, queue, plugin->queue_mark(device, queue), -1, &err);
    plugin->buffer_free(device, out);
    plugin->buffer_free(device, a);
    plugin->buffer_free(device, b);
    return close_one(state);
}

static void record_adds(collet_recording **recording, collet_buffer *to, int count)
{
    assert_good(record->begin(device, queue, &err));
    for (int i = 0; i < count; i++)
        assert_good(add(device, queue, to, a, b, N));
    assert_good(record->end(device, queue, recording, &err));
}

static void recorded_and_replayed(void **state)
{
    (void)state;
    collet_recording *recording = NULL;
    int before = cu->launch_count;
    record_adds(&recording, out, 3);
    assert_int_equal(cu->launch_count, before);
    for (int i = 1; i <= 4; i++) {
        assert_good(record->replay(device, queue, recording, &err));
        assert_int_equal(cu->launch_count, before + 3 * i);
    }
    assert_int_equal(cu->instantiated, 1);
    assert_int_equal(cu->graph_launches, 4);
    assert_good(wait_all(device, queue));
    record->release(device, recording);
    record->release(device, NULL);
}

/* Commands of the same kinds update the executable graph, others replace it. */
static void other_buffers(void **state)
{
    (void)state;
    collet_recording *recording = NULL;
    record_adds(&recording, out, 2);
    assert_good(record->replay(device, queue, recording, &err));
    void *first = last_launch()->first;
    collet_buffer *other = new_buffer(device, N * sizeof(float));
    record_adds(&recording, other, 2);
    assert_good(record->replay(device, queue, recording, &err));
    assert_ptr_not_equal(last_launch()->first, first);
    assert_int_equal(cu->instantiated, 1);
    assert_int_equal(cu->updated, 1);
    cu->busy = 1;
    record_adds(&recording, out, 3);
    assert_good(record->replay(device, queue, recording, &err));
    assert_ptr_equal(last_launch()->first, first);
    assert_int_equal(cu->instantiated, 2);
    assert_good(wait_all(device, queue));
    cu->busy = 0;
    plugin->buffer_free(device, other);
    record->release(device, recording);
}

/* Waits and other queues do not touch the stream while it captures. */
static void waits_while_recording(void **state)
{
    (void)state;
    collet_recording *recording = NULL;
    collet_queue *second = new_queue(device);
    cu->busy = 1;
    assert_good(add(device, queue, out, a, b, N));
    uint64_t before = plugin->queue_mark(device, queue);
    assert_good(add(device, queue, out, a, b, N));
    assert_good(record->begin(device, queue, &err));
    assert_good(add(device, queue, out, a, b, N));
    assert_status_is(plugin->queue_wait(device, queue, before, 0, &err), COLLET_NOT_READY);
    assert_good(plugin->queue_after(device, second, queue, before + 1, &err));
    assert_good(plugin->queue_wait(device, queue, before, -1, &err));
    assert_good(plugin->queue_wait(device, queue, before + 1, -1, &err));
    assert_good(add(device, queue, out, a, b, N));
    assert_good(record->end(device, queue, &recording, &err));
    assert_good(record->replay(device, queue, recording, &err));
    assert_good(wait_all(device, queue));
    cu->busy = 0;
    record->release(device, recording);
    plugin->queue_destroy(device, second);
}

/* Nothing was enqueued, and the queue goes on. */
static void assert_goes_on(void)
{
    int before = cu->launch_count;
    assert_good(add(device, queue, out, a, b, N));
    assert_int_equal(cu->launch_count, before + 1);
    assert_good(wait_all(device, queue));
    assert_int_equal(cu->graphs, 0);
}

static void transfers_are_refused(void **state)
{
    (void)state;
    float value[N];
    assert_good(record->begin(device, queue, &err));
    assert_good(add(device, queue, out, a, b, N));
    assert_status_is(write_floats(device, queue, a, sizeof value, 2), COLLET_REFUSED);
    assert_says(err.text, "a write cannot be recorded");
    assert_status_is(plugin->buffer_read(device, queue, a, 0, value, sizeof value, &err),
                     COLLET_FAILED);
    assert_good(record->end(device, queue, NULL, &err));
    assert_goes_on();
}

static void trim_device(void)
{
    const collet_trim_extension *trim = plugin->extension(device, COLLET_EXTENSION_TRIM);
    trim->trim(device);
}

/* A graph whose kernels were unloaded is not launched. */
static void after_a_trim(void **state)
{
    (void)state;
    collet_recording *recording = NULL;
    record_adds(&recording, out, 2);
    assert_good(record->replay(device, queue, recording, &err));
    trim_device();
    assert_status_is(record->replay(device, queue, recording, &err), COLLET_REFUSED);
    assert_good(add(device, queue, out, a, b, N));
    record_adds(&recording, out, 2);
    assert_good(record->replay(device, queue, recording, &err));
    assert_good(wait_all(device, queue));
    assert_int_equal(cu->updated, 0);
    record->release(device, recording);
}

static void trim_while_recording(void **state)
{
    (void)state;
    collet_recording *recording = NULL;
    record_adds(&recording, out, 1);
    assert_good(record->begin(device, queue, &err));
    assert_good(add(device, queue, out, a, b, N));
    trim_device();
    assert_status_is(record->end(device, queue, &recording, &err), COLLET_REFUSED);
    assert_null(recording);
    assert_goes_on();
}

static void of_one_queue(void **state)
{
    (void)state;
    collet_recording *recording = NULL;
    collet_queue *second = new_queue(device);
    record_adds(&recording, out, 1);
    assert_status_is(record->replay(device, second, recording, &err), COLLET_REFUSED);
    plugin->queue_destroy(device, second);
    assert_good(record->replay(device, queue, recording, &err));
    assert_good(wait_all(device, queue));
    record->release(device, recording);
}

/* Each function of the driver fails: nothing is left over. */
static void failing_driver(void **state)
{
    static const char *const functions[] = {"StreamBeginCapture", "LaunchKernel",
                                            "StreamEndCapture", "GraphInstantiate"};
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        collet_recording *recording = NULL;
        inject(functions[i], 0, CUDA_ERROR_OUT_OF_MEMORY);
        collet_status status = record->begin(device, queue, &err);
        if (status == COLLET_OK) {
            status = add(device, queue, out, a, b, N);
            collet_status ended =
                record->end(device, queue, status == COLLET_OK ? &recording : NULL, &err);
            status = status == COLLET_OK ? ended : status;
        }
        assert_status_is(status, COLLET_REFUSED);
        assert_null(recording);
        if (i == 2) /* the stand-in's stream still captures */
            assert_good(record->end(device, queue, NULL, &err));
        assert_goes_on();
    }
}

static void failing_launches(void **state)
{
    (void)state;
    collet_recording *recording = NULL;
    record_adds(&recording, out, 1);
    inject("GraphLaunch", 0, CUDA_ERROR_INVALID_VALUE);
    assert_status_is(record->replay(device, queue, recording, &err), COLLET_REFUSED);
    assert_good(record->replay(device, queue, recording, &err));
    inject("GraphLaunch", 0, CUDA_ERROR_ECC_UNCORRECTABLE);
    assert_status_is(record->replay(device, queue, recording, &err), COLLET_DEVICE_LOST);
    assert_status_is(record->replay(device, queue, recording, &err), COLLET_DEVICE_LOST);
    assert_status_is(record->begin(device, queue, &err), COLLET_DEVICE_LOST);
    record->release(device, recording);
}

static void where_nothing_is_recorded(void **state)
{
    (void)state;
    fresh(state);
    set_sync = "on";
    device = open_device(0);
    queue = new_queue(device);
    assert_status_is(record->begin(device, queue, &err), COLLET_REFUSED);
    assert_says(err.text, "cuda.sync");
    plugin->queue_destroy(device, queue);
    plugin->device_close(device);
    set_sync = NULL;
    cu->version = 11080;
    device = open_device(0);
    queue = new_queue(device);
    assert_status_is(record->begin(device, queue, &err), COLLET_REFUSED);
    assert_says(err.text, "older than CUDA 12");
}

/* ---- Libraries ------------------------------------------------------------------------------- */

#define SIDE 40

/* to = x y of SIDE x SIDE f32. */
static collet_status product(collet_queue *q, collet_buffer *to, collet_buffer *x, collet_buffer *y)
{
    const int64_t shape[] = {SIDE, SIDE}, strides[] = {SIDE, 1};
    const collet_operand operands[] = {{to, 0, COLLET_F32, 2, shape, strides},
                                       {x, 0, COLLET_F32, 2, shape, strides},
                                       {y, 0, COLLET_F32, 2, shape, strides}};
    return run_row(device, q, COLLET_OP_MATMUL, COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32),
                   operands);
}

static void products_are_recorded(void **state)
{
    fake_cublas_control *blas = symbol_of(FAKE_CUBLAS, "fake_cublas");
    collet_recording *recording = NULL;
    collet_buffer *m[3];
    float read[SIDE * SIDE];
    fresh(state);
    set_cublas = FAKE_CUBLAS;
    device = open_device(0);
    queue = new_queue(device);
    for (int i = 0; i < 3; i++) {
        m[i] = new_buffer(device, sizeof read);
        assert_good(write_floats(device, queue, m[i], sizeof read, 1));
    }
    assert_good(product(queue, m[0], m[1], m[2]));
    int before = blas->products;
    assert_good(record->begin(device, queue, &err));
    assert_good(product(queue, m[0], m[1], m[2]));
    assert_good(product(queue, m[2], m[0], m[1]));
    assert_good(record->end(device, queue, &recording, &err));
    assert_int_equal(blas->products, before);
    assert_good(record->replay(device, queue, recording, &err));
    assert_good(record->replay(device, queue, recording, &err));
    assert_int_equal(blas->products, before + 4);
    assert_good(plugin->buffer_read(device, queue, m[2], 0, read, sizeof read, &err));
    assert_true(read[7] == (float)SIDE * SIDE * SIDE * SIDE);
    /* The queue's handle was destroyed. */
    trim_device();
    assert_status_is(record->replay(device, queue, recording, &err), COLLET_REFUSED);
    record->release(device, recording);
    for (int i = 0; i < 3; i++)
        plugin->buffer_free(device, m[i]);
}

/* to = fft of 64 c64. */
static collet_status transform(collet_buffer *to, collet_buffer *from, collet_buffer *workspace)
{
    const int64_t shape[] = {64}, strides[] = {1};
    const collet_operand operands[] = {{to, 0, COLLET_C64, 1, shape, strides},
                                       {from, 0, COLLET_C64, 1, shape, strides}};
    const collet_fft_params params = {sizeof params, 1, 0, 0};
    const collet_kernel_call call = {.struct_size = sizeof call,
                                     .op = COLLET_OP_FFT,
                                     .sig = COLLET_SIG(COLLET_C64, COLLET_C64),
                                     .n_out = 1,
                                     .n_in = 1,
                                     .operand_size = sizeof *operands,
                                     .params_size = sizeof params,
                                     .operands = operands,
                                     .params = &params,
                                     .workspace = workspace,
                                     .workspace_bytes = 4096,
                                     .err = &err};
    for (uint32_t i = 0; i < plugin->kernel_count; i++)
        if (plugin->kernels[i].op == call.op && plugin->kernels[i].sig == call.sig)
            return plugin->kernels[i].run(device, queue, &call);
    return COLLET_UNSUPPORTED;
}

/* The stand-in's transforms end a capture, as what synchronizes does. */
static void what_cannot_be_captured(void **state)
{
    (void)state;
    fresh(state);
    set_cufft = FAKE_CUFFT;
    fake_cufft_control *cufft = symbol_of(FAKE_CUFFT, "fake_cufft");
    device = open_device(0);
    queue = new_queue(device);
    collet_buffer *to = new_buffer(device, 512), *from = new_buffer(device, 512),
                  *scratch = new_buffer(device, 4096);
    assert_good(write_floats(device, queue, from, 512, 1));
    assert_good(transform(to, from, scratch));
    int executed = cufft->executed;
    assert_true(executed > 0);
    assert_good(record->begin(device, queue, &err));
    assert_status_is(transform(to, from, scratch), COLLET_FAILED);
    assert_status_is(record->end(device, queue, NULL, &err), COLLET_FAILED);
    assert_int_equal(cu->graphs, 0);
    assert_good(transform(to, from, scratch));
    assert_int_equal(cufft->executed, executed + 1);
    assert_good(wait_all(device, queue));
    plugin->buffer_free(device, to);
    plugin->buffer_free(device, from);
    plugin->buffer_free(device, scratch);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_recording, close_recording)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(recorded_and_replayed),
        TEST(other_buffers),
        TEST(waits_while_recording),
        TEST(transfers_are_refused),
        TEST(after_a_trim),
        TEST(trim_while_recording),
        TEST(of_one_queue),
        TEST(failing_driver),
        TEST(failing_launches),
        cmocka_unit_test_teardown(where_nothing_is_recorded, close_one),
        cmocka_unit_test_teardown(products_are_recorded, close_one),
        cmocka_unit_test_teardown(what_cannot_be_captured, close_one),
    };
    return cmocka_run_group_tests(tests, load_plugin, NULL);
}
