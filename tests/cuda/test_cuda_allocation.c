/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation number N of the backend's host code fails, for N = 0, 1, ... until a session makes
 * fewer allocations. Each call reports the failure or succeeds without the memory. Nothing leaks on
 * the host or the device, and the same session then succeeds. The backend's objects are linked into
 * this program, so that only their allocations go through common/failing_malloc.c.
 */
#include "cuda_fixture.h"

#include "common/failing_malloc.h"

#define N 100 /* matrices are N x N: large enough that the backend uses cuBLAS and cuSOLVER */
#define BUFFERS 3

typedef struct session {
    collet_device *device;
    collet_queue *queue;
    collet_buffer *buffers[BUFFERS];
} session;

/* Calls one of Collet's kernels, and an op of each library. */
static collet_status call_ops(session *s)
{
    static const int64_t shape[] = {N, N}, step[] = {N, 1}, complex_shape[] = {10, 100},
                         complex_step[] = {100, 1}, one = 1;
    static const collet_fft_params fft = {.struct_size = sizeof fft, .last_axes = 1, .inverse = 1};
    collet_operand o[BUFFERS], f[2];
    for (int i = 0; i < BUFFERS; i++)
        o[i] = (collet_operand){s->buffers[i], 0, COLLET_F32, 2, shape, step};
    for (int i = 0; i < 2; i++)
        f[i] = (collet_operand){s->buffers[i], 0, COLLET_C64, 2, complex_shape, complex_step};
    const uint64_t fff = COLLET_SIG(COLLET_F32, COLLET_F32, COLLET_F32);
    collet_status status = run_row(s->device, s->queue, COLLET_OP_ADD, fff, o);
    if (status == COLLET_OK)
        status = run_row(s->device, s->queue, COLLET_OP_MATMUL, fff, o);
    if (status == COLLET_OK)
        status = run_with(s->device, s->queue, COLLET_OP_FFT, COLLET_SIG(COLLET_C64, COLLET_C64), 1, f, &fft,
                          sizeof fft);
    o[1] = (collet_operand){s->buffers[1], 0, COLLET_I32, 0, &one, &one};
    if (status == COLLET_OK)
        status = run_with(s->device, s->queue, COLLET_OP_CHOLESKY,
                          COLLET_SIG(COLLET_F32, COLLET_I32, COLLET_F32), 2, o, NULL, 0);
    return status;
}

static collet_status move_bytes(session *s)
{
    static unsigned char bytes[4 * N * N];
    collet_status status =
        plugin->buffer_write(s->device, s->queue, s->buffers[2], 0, bytes, sizeof bytes, &err);
    if (status == COLLET_OK)
        status =
            plugin->buffer_read(s->device, s->queue, s->buffers[1], 0, bytes, sizeof bytes, &err);
    return status;
}

static collet_status whole_session(void)
{
    session s = {0};
    collet_status status = host_open(0, &s.device, &err);
    if (status == COLLET_OK)
        status = plugin->queue_create(s.device, &s.queue, &err);
    for (int i = 0; i < BUFFERS && status == COLLET_OK; i++)
        status = plugin->buffer_alloc(s.device, &s.buffers[i], 4 * N * N, &err);
    if (status == COLLET_OK)
        status = move_bytes(&s);
    if (status == COLLET_OK) {
        status = call_ops(&s);
        /* No failure persists: the next attempt at the same calls succeeds. */
        if (status != COLLET_OK) {
            const collet_error first = err;
            assert_good(call_ops(&s));
            err = first;
        }
    }
    if (status == COLLET_OK)
        status = wait_all(s.device, s.queue);
    if (!s.device)
        return status;
    for (int i = 0; i < BUFFERS; i++)
        plugin->buffer_free(s.device, s.buffers[i]);
    if (s.queue)
        plugin->queue_destroy(s.device, s.queue);
    plugin->device_close(s.device);
    return status;
}

TEST_WITH(every_allocation_may_fail, fresh, nothing_left)
{
    long n = 0, reported = 0;
    set_cublas = FAKE_CUBLAS;
    set_cufft = FAKE_CUFFT;
    set_cusolver = FAKE_CUSOLVER;
    set_staging = "20480";
    assert_good(whole_session());
    for (;; n++) {
        long before = allocation_outstanding;
        memset(&err, 0, sizeof err);
        allocation_failed = 0;
        allocation_countdown = n;
        collet_status status = whole_session();
        allocation_countdown = -1;
        if (allocation_outstanding != before || nothing_left(state))
            fail_msg("allocation %ld: %ld blocks leaked (%s)", n, allocation_outstanding - before,
                     err.text);
        if (!allocation_failed) {
            assert_good(status);
            break;
        }
        /* FAILED is allowed if a call has several launches and a later launch ran out of memory. */
        if (status != COLLET_OK && status != COLLET_NO_MEMORY && status != COLLET_REFUSED &&
            !(status == COLLET_FAILED && strstr(err.text, "out of memory")))
            fail_msg("allocation %ld: status %d (%s)", n, (int)status, err.text);
        if (status != COLLET_OK && !*err.text)
            fail_msg("allocation %ld: no text", n);
        reported += status != COLLET_OK;
    }
    print_message("%ld allocations, %ld of them reported\n", n, reported);
    assert_true(n > 20 && reported > 5);
}

static int open_linked(void **state)
{
    host_settings = cuda_settings;
    cu = symbol_of(FAKE_CUDA, "fake_cuda");
    rtc = symbol_of(FAKE_NVRTC, "fake_nvrtc");
    plugin = collet_plugin_entry(&host);
    return plugin ? read_manifest(CUDA_PLUGIN) : -1;
}

TEST_GROUP(open_linked, NULL)
