/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings on cuda: from their third run on they are graphs, with the same results and errors. The stand-in for NVRTC
 * compiles the kernels for the host. */
#include <collet/ops.h>
#include <collet/recording.h>

#include "common/fixture.h"
#include "fakes/cuda/control.h"

#include <dlfcn.h>

#define N 48
#define STEPS 6

static fake_cuda_control *cu;

OWNS(collet_recording, collet_recording_destroy)

static int set_up(void **state)
{
    void *library = dlopen(COLLET_TEST_FAKES "/libfake_cuda.so", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    cu = dlsym(library, "fake_cuda");
    open_shared(COLLET_TEST_PLUGINS "/cuda.so", NULL, "cuda");
    return 0;
}

static uint32_t called(collet_recording *r, uint32_t op, uint32_t a, uint32_t b)
{
    uint32_t value = 0;
    assert_ok(cx, collet_recording_call(cx, r, &value, op, (uint32_t[]){a, b}, NULL, NULL));
    return value;
}

/* STEPS calls of x and y; in the middle their sum in the reverse order. */
static collet_recording *record(void)
{
    collet_recording *r = NULL;
    uint32_t x, y, v, view;
    const int64_t n = N;
    assert_ok(cx, collet_recording_create(cx, &r));
    assert_ok(cx, collet_recording_input(cx, r, &x, COLLET_F32, 1, &n));
    assert_ok(cx, collet_recording_input(cx, r, &y, COLLET_F32, 1, &n));
    v = called(r, COLLET_OP_MUL, x, y);
    v = called(r, COLLET_OP_ADD, v, x);
    assert_ok(cx, collet_recording_view(cx, r, &view, v, COLLET_VIEW_SLICE,
                                        (const int64_t[]){0, N - 1, N, -1}, 4));
    v = called(r, COLLET_OP_SUB, v, view);
    uint32_t out[2] = {called(r, COLLET_OP_MAXIMUM, v, y)};
    v = called(r, COLLET_OP_MUL, out[0], view);
    out[1] = called(r, COLLET_OP_ADD, v, x);
    assert_ok(cx, collet_recording_complete(cx, r, out, 2));
    return r;
}

static void expect(float first[N], float second[N], float x0, float y0)
{
    float v[N];
    for (int i = 0; i < N; i++)
        v[i] = (x0 + (float)i) * (y0 + (float)i) + (x0 + (float)i);
    for (int i = 0; i < N; i++) {
        float d = v[i] - v[N - 1 - i], y = y0 + (float)i;
        first[i] = d > y ? d : y;
        second[i] = first[i] * v[N - 1 - i] + (x0 + (float)i);
    }
}

static void run_and_check(collet_context *context, collet_recording *r, float x0, float y0)
{
    float first[N], second[N];
    OWNED(collet_array) *x = floats(context, N, x0), *y = floats(context, N, y0);
    collet_array *outs[2];
    assert_ok(context, collet_recording_run(context, r, outs, (const collet_array *[]){x, y}));
    expect(first, second, x0, y0);
    assert_floats(context, outs[0], first);
    assert_floats(context, outs[1], second);
    collet_array_destroy(outs[0]);
    collet_array_destroy(outs[1]);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

TEST(graphs_from_the_third_run)
{
    OWNED(collet_recording) *r = record();
    int before = cu->graph_launches;
    for (int run = 0; run < 6; run++) {
        int launched = cu->launch_count;
        run_and_check(cx, r, (float)run, 2);
        assert_int_equal(cu->launch_count - launched, STEPS);
        assert_int_equal(cu->graph_launches - before, run < 2 ? 0 : run - 1);
    }
}

/* The result of a run is the input of the next; nothing is read before the end. */
TEST(results_as_inputs)
{
    OWNED(collet_recording) *r = record();
    OWNED(collet_array) *start = floats(cx, N, -3), *y = NULL;
    collet_array *now = NULL;
    const int64_t n = N;
    float x[N], first[N], got[N], ones[N];
    for (int i = 0; i < N; i++) {
        x[i] = -3 + (float)i;
        ones[i] = 1;
    }
    assert_ok(cx, collet_array_from(cx, &y, COLLET_F32, 1, &n, ones));
    for (int run = 0; run < 5; run++) {
        collet_array *outs[2];
        float v[N];
        assert_ok(
            cx, collet_recording_run(cx, r, outs, (const collet_array *[]){now ? now : start, y}));
        collet_array_destroy(now);
        collet_array_destroy(outs[1]);
        now = outs[0];
        for (int i = 0; i < N; i++)
            v[i] = x[i] + x[i];
        for (int i = 0; i < N; i++) {
            float d = v[i] - v[N - 1 - i];
            first[i] = d > 1 ? d : 1;
        }
        memcpy(x, first, sizeof x);
    }
    assert_ok(cx, collet_array_read(cx, now, got, sizeof got));
    assert_memory_equal(got, first, sizeof got);
    collet_array_destroy(now);
}

/* Two contexts, each with its queue, run the recording in turn with arrays of the other. */
TEST(two_contexts)
{
    OWNED(collet_recording) *r = record();
    collet_context *other;
    assert_int_equal(collet_context_create(rt, &other, NULL), COLLET_OK);
    assert_ok(other, collet_set_backend(other, "cuda"));
    OWNED(collet_array) *x = floats(cx, N, 1), *y = floats(other, N, 2);
    for (int run = 0; run < 8; run++) {
        float first[N], second[N];
        collet_array *outs[2];
        collet_context *now = run % 2 ? other : cx;
        assert_ok(now, collet_recording_run(now, r, outs, (const collet_array *[]){x, y}));
        expect(first, second, 1, 2);
        assert_floats(cx, outs[0], first);
        assert_floats(other, outs[1], second);
        collet_array_destroy(outs[0]);
        collet_array_destroy(outs[1]);
    }
    assert_int_equal(cu->unordered, 0);
    collet_context_destroy(other);
}

/* A step that fails ends the batch; a later run is right. */
TEST(a_step_fails)
{
    OWNED(collet_recording) *r = record();
    OWNED(collet_array) *x = floats(cx, N, 1), *y = floats(cx, N, 2);
    collet_array *outs[2];
    for (int run = 0; run < 3; run++)
        run_and_check(cx, r, 1, 2);
    assert_ok(cx, collet_set_backend(cx, "cuda"));
    cu->fails = "MemAlloc";
    cu->fails_after = 0;
    cu->fails_times = 1000;
    cu->fails_with = 2;
    collet_trim(cx);
    collet_status status = collet_recording_run(cx, r, outs, (const collet_array *[]){x, y});
    cu->fails = NULL;
    assert_int_not_equal(status, COLLET_OK);
    assert_null(outs[0]);
    run_and_check(cx, r, 4, 5);
    run_and_check(cx, r, 5, 6);
}

TEST_GROUP(set_up, tear_down)
