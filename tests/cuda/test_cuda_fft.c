/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests for which transforms the cuda backend calls cuFFT (here a fake), and for which it launches Collet's kernels
 * (which do not run here). Also tests the plans and work areas of cuFFT. cuda_host_cufft checks the results.
 */
#include "cuda_fixture.h"

static fake_cufft_control *fft;

static int open_fft(void **state)
{
    fresh(state);
    fft = symbol_of(FAKE_CUFFT, "fake_cufft");
    fft->create_fails = fft->plan_fails = fft->exec_fails = 0;
    fft->made = fft->executed = fft->wrong = 0;
    set_cufft = FAKE_CUFFT;
    device = open_device(0);
    queue = new_queue(device);
    return 0;
}

static int close_fft(void **state)
{
    int left = close_one(state);
    if (fft->plans || fft->wrong)
        print_error("%d plans left, %d wrong calls\n", fft->plans, fft->wrong);
    return fft->plans || fft->wrong ? -1 : left;
}

/* ---- A transform ----------------------------------------------------------------------------- */

#define ELEMENTS 8192 /* in every operand's memory */

typedef struct array {
    int64_t first;
    int64_t strides[3];
} array;

/* An f32 transform of a batch of lines or planes. */
typedef struct transform {
    collet_dtype from, to;
    uint32_t axes, inverse;
    int64_t in_shape[3], out_shape[3];
    array in, out;
} transform;

static collet_status run_fft(collet_queue *q, const transform *t, collet_buffer *out,
                             collet_buffer *in)
{
    const collet_fft_params params = {
        .struct_size = sizeof params, .last_axes = t->axes, .inverse = t->inverse};
    const uint64_t out_size = t->to == COLLET_F32 ? 4 : 8, in_size = t->from == COLLET_F32 ? 4 : 8;
    const collet_operand operands[] = {
        {out, (uint64_t)t->out.first * out_size, t->to, 3, t->out_shape, t->out.strides},
        {in, (uint64_t)t->in.first * in_size, t->from, 3, t->in_shape, t->in.strides}};
    return run_with(device, q, COLLET_OP_FFT, COLLET_SIG(t->to, t->from), 1, operands, &params, sizeof params);
}

/* Returns 1: cuFFT computed it; 0: kernels were launched. */
static int by_cufft(collet_queue *q, const transform *t)
{
    collet_buffer *out = new_buffer(device, ELEMENTS * 8), *in = new_buffer(device, ELEMENTS * 8);
    int before = fft->executed, launched = cu->launch_count;
    assert_good(run_fft(q, t, out, in));
    assert_good(wait_all(device, q));
    plugin->buffer_free(device, out);
    plugin->buffer_free(device, in);
    int by = fft->executed > before;
    /* One launch copies the input of a complex-to-real transform, and one scales the result of an inverse transform. */
    if (by)
        assert_int_equal(cu->launch_count - launched, (t->to == COLLET_F32) + (t->inverse != 0));
    else
        assert_true(cu->launch_count > launched);
    return by;
}

/* clang-format off */
#define LINES {0, {60, 12, 1}}
#define C2C(in, out, axes) {COLLET_C64, COLLET_C64, axes, 0, {4, 5, 12}, {4, 5, 12}, in, out}
/* clang-format on */

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST_WITH(layouts, open_fft, close_fft)
{
    const transform taken[] = {
        C2C(LINES, LINES, 1),
        C2C(LINES, LINES, 2),
        C2C(LINES, LINES, 3),
        /* Gaps between elements, rows and planes. */
        C2C(((array){3, {150, 30, 2}}), LINES, 1),
        C2C(((array){3, {180, 36, 2}}), LINES, 3),
        C2C(LINES, ((array){1, {130, 26, 2}}), 2),
        {COLLET_F32, COLLET_C64, 1, 0, {4, 5, 12}, {4, 5, 7}, LINES, {0, {35, 7, 1}}},
        {COLLET_F32, COLLET_C64, 2, 0, {4, 5, 12}, {4, 5, 7}, {2, {80, 16, 1}}, {0, {40, 8, 1}}},
        {COLLET_C64, COLLET_F32, 1, 1, {4, 5, 7}, {4, 5, 12}, {0, {35, 7, 1}}, LINES},
        /* A half spectrum may have any strides, because the backend copies it first. */
        {COLLET_C64, COLLET_F32, 3, 1, {4, 5, 7}, {4, 5, 12}, {200, {-35, 1, 5}}, LINES},
        {COLLET_C64, COLLET_C64, 2, 1, {4, 5, 12}, {4, 5, 12}, LINES, LINES},
        {COLLET_C64, COLLET_C64, 1, 0, {1, 5, 131}, {1, 5, 131}, {0, {0, 131, 1}}, {0, {0, 131, 1}}},
        {COLLET_F32, COLLET_C64, 1, 0, {1, 5, 254}, {1, 5, 128}, {0, {0, 254, 1}}, {0, {0, 128, 1}}},
        /* Strides of axes of one element do not matter. */
        {COLLET_C64, COLLET_C64, 2, 0, {4, 1, 12}, {4, 1, 12}, {0, {12, 7, 1}}, {0, {12, 5, 1}}},
    };
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!by_cufft(queue, &taken[i]))
            fail_msg("transform %zu was not by cuFFT", i);
    /* Forward and inverse share a plan. */
    assert_int_equal(fft->made, sizeof taken / sizeof *taken - 1);
}

/* Collet's kernels run for layouts that cuFFT does not support, and for lengths of real transforms
 * that cuFFT computes inaccurately. */
TEST_WITH(other_layouts, open_fft, close_fft)
{
    const transform left[] = {
        C2C(((array){59, {60, 12, -1}}), LINES, 1),
        C2C(((array){0, {0, 12, 1}}), LINES, 2),
        C2C(((array){0, {1, 4, 20}}), LINES, 1),
        C2C(LINES, ((array){0, {100, 12, 1}}), 1),
        C2C(((array){0, {75, 15, 2}}), LINES, 2),
        C2C(((array){0, {135, 27, 2}}), LINES, 2),
        C2C(LINES, ((array){0, {12, 48, 1}}), 3),
        /* A real array whose address is not aligned for complex numbers. */
        {COLLET_F32, COLLET_C64, 1, 0, {4, 5, 12}, {4, 5, 7}, {1, {60, 12, 1}}, {0, {35, 7, 1}}},
        {COLLET_F32, COLLET_C64, 1, 0, {1, 5, 262}, {1, 5, 132}, {0, {0, 262, 1}}, {0, {0, 132, 1}}},
        {COLLET_C64, COLLET_F32, 1, 1, {1, 5, 66}, {1, 5, 131}, {0, {0, 66, 1}}, {0, {0, 131, 1}}},
    };
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        if (by_cufft(queue, &left[i]))
            fail_msg("transform %zu was by cuFFT", i);
}

/* Errors of the library: Collet's kernel is used if nothing was enqueued. */
TEST_WITH(fails, open_fft, close_fft)
{
    const transform t = C2C(LINES, LINES, 1);
    fft->create_fails = 5; /* CUFFT_INTERNAL_ERROR */
    assert_false(by_cufft(queue, &t));
    fft->create_fails = 0;
    assert_true(by_cufft(queue, &t));
    trim(device);
    assert_int_equal(fft->plans, 0);
    fft->plan_fails = 8; /* CUFFT_INVALID_SIZE: not retried */
    assert_false(by_cufft(queue, &t));
    fft->plan_fails = 0;
    assert_false(by_cufft(queue, &t));
    trim(device);
    assert_true(by_cufft(queue, &t));
    collet_buffer *a = new_buffer(device, ELEMENTS * 8), *b = new_buffer(device, ELEMENTS * 8);
    fft->exec_fails = 6; /* CUFFT_EXEC_FAILED */
    assert_status_is(run_fft(queue, &t, a, b), COLLET_FAILED);
    assert_contains(err.text, "cufftXtExec: status 6");
    plugin->buffer_free(device, a);
    plugin->buffer_free(device, b);
}

static void no_more_plans(void)
{
    trim(device);
    fft->plan_fails = 2; /* CUFFT_ALLOC_FAILED */
}

/* The workspace was requested for a plan of cuFFT, and then creating the plan fails. The workspace is large
 * enough for Collet's kernels. */
TEST_WITH(plan_is_lost, open_fft, close_fft)
{
    const int64_t lengths[] = {16, 131};
    for (int i = 0; i < 2; i++) {
        const int64_t n = lengths[i];
        const array lines = {0, {5 * n, n, 1}};
        const transform t = {COLLET_C64, COLLET_C64, 1, 0, {3, 5, n}, {3, 5, n}, lines, lines};
        fft->plan_fails = 0;
        assert_true(by_cufft(queue, &t));
        before_run = no_more_plans;
        assert_false(by_cufft(queue, &t));
        before_run = NULL;
    }
}

TEST_WITH(plans, open_fft, close_fft)
{
    transform t = C2C(LINES, LINES, 1);
    collet_queue *other = new_queue(device);
    /* One plan for all queues and both directions. */
    assert_true(by_cufft(queue, &t));
    assert_true(by_cufft(other, &t));
    t.inverse = 1;
    assert_true(by_cufft(other, &t));
    assert_int_equal(fft->made, 1);
    /* A smaller batch has its own plan. */
    t.in_shape[0] = t.out_shape[0] = 3;
    assert_true(by_cufft(other, &t));
    assert_int_equal(fft->made, 2);
    t.in_shape[0] = t.out_shape[0] = 4;
    for (int64_t n = 2; n <= 101; n++) {
        t.in_shape[2] = t.out_shape[2] = n;
        t.in.strides[0] = t.out.strides[0] = 5 * n;
        t.in.strides[1] = t.out.strides[1] = n;
        assert_true(by_cufft(queue, &t));
    }
    assert_int_equal(fft->made, 101);
    assert_int_equal(fft->plans, 64);
    /* No plan is destroyed while it may be in use. */
    int waited = cu->synchronized;
    t.in_shape[0] = t.out_shape[0] = 2;
    assert_true(by_cufft(queue, &t));
    assert_int_equal(fft->plans, 64);
    assert_int_equal(cu->synchronized - waited, 2 + 1);
    trim(device);
    assert_int_equal(fft->plans, 0);
    plugin->queue_destroy(device, other);
}

TEST_GROUP(load_plugin, NULL)
