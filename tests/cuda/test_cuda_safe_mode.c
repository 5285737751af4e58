/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Safe mode of the cuda backend: if a library of the CUDA toolkit crashes in the probe, the program opens
 * no library of the toolkit, and Collet's own kernels compute.
 */
#include "cuda_fixture.h"

#include <collet/collet.h>
#include <collet/ops.h>
#include <collet/ops.h>
#include <collet/ops.h>

OWNS(collet_array, collet_array_destroy)
OWNS(collet_context, collet_context_destroy)
OWNS(collet_runtime, collet_runtime_destroy)

#define CRASHES COLLET_TEST_FAKES "/libfake_cuda_crashes.so"
#define CRASHED "\"not used in safe mode: the probe crashed in its capabilities"

/* The number of calls of the fake libraries so far. */
static int library_calls(void)
{
    const fake_cublas_control *blas = symbol_of(FAKE_CUBLAS, "fake_cublas");
    const fake_cufft_control *fft = symbol_of(FAKE_CUFFT, "fake_cufft");
    const fake_cusolver_control *solver = symbol_of(FAKE_CUSOLVER, "fake_cusolver");
    return blas->products + fft->executed + solver->computed;
}

static collet_array *new_array(collet_context *cx, collet_dtype dtype)
{
    const int64_t shape[] = {96, 96};
    collet_array *a = NULL;
    assert_good(collet_array_create(cx, &a, dtype, dtype == COLLET_I32 ? 0 : 2, shape));
    return a;
}

/* Computes a matrix product, a Fourier transform and a factorisation. */
static void compute(collet_context *cx)
{
    collet_array *real[2] = {new_array(cx, COLLET_F32), new_array(cx, COLLET_F32)};
    collet_array *complex[2] = {new_array(cx, COLLET_C64), new_array(cx, COLLET_C64)};
    OWNED(collet_array) *info = new_array(cx, COLLET_I32);
    const collet_scalar one = {.dtype = COLLET_F32, .value.f32 = 1.0f};
    assert_good(collet_op_fill(cx, real[1], &one));
    assert_good(collet_op_fill(cx, complex[1], &one));
    assert_good(collet_op_matmul(cx, real[0], real[1], real[1]));
    assert_good(collet_op_fft(cx, complex[0], complex[1], 1, 0));
    assert_good(collet_op_cholesky(cx, real[0], info, real[1]));
    assert_good(collet_finish(cx));
    for (int i = 0; i < 2; i++) {
        collet_array_destroy(real[i]);
        collet_array_destroy(complex[i]);
    }
}

/* The capabilities of cuda contain `reported`. The libraries compute if `by_libraries`, else
 * Collet's kernels. */
static void expect(const char *const libraries[3], const char *safe_mode, const char *reported,
                   int by_libraries)
{
    char cublas[500], cufft[500], cusolver[500];
    const char *const settings[] = {"cache=off",
                                    "cuda.library=" FAKE_CUDA,
                                    "cuda.nvrtc=" FAKE_NVRTC,
                                    cublas,
                                    cufft,
                                    cusolver,
                                    safe_mode,
                                    NULL};
    collet_runtime_options options = {.struct_size = sizeof options,
                                      .plugin_path = CUDA_PLUGIN,
                                      .backend = "cuda",
                                      .settings = settings};
    collet_backend_info info = {.struct_size = sizeof info};
    OWNED(collet_runtime) *rt = NULL;
    OWNED(collet_context) *cx = NULL;
    snprintf(cublas, sizeof cublas, "cuda.cublas=%s", libraries[0]);
    snprintf(cufft, sizeof cufft, "cuda.cufft=%s", libraries[1]);
    snprintf(cusolver, sizeof cusolver, "cuda.cusolver=%s", libraries[2]);
    assert_good(collet_runtime_create(&rt, &options, &err));
    assert_good(collet_context_create(rt, &cx, &err));
    assert_good(collet_backend_info_at(rt, &info, 0, NULL));
    assert_contains(info.capabilities, reported);
    int before = library_calls(), launched = cu->launch_count;
    compute(cx);
    assert_int_equal(library_calls() - before, by_libraries ? 3 : 0);
    assert_true(cu->launch_count > launched);
}

static const char *const sound[] = {FAKE_CUBLAS, FAKE_CUFFT, FAKE_CUSOLVER};

TEST_WITH(as_set, fresh, nothing_left)
{
    expect(sound, NULL, FAKE_CUBLAS, 1);
    expect(sound, "cuda.safe_mode=off", FAKE_CUSOLVER, 1);
    expect(sound, "cuda.safe_mode=on", "\"cublas\": \"not used in safe mode: on\"", 0);
}

/* If the backend opened the crashing library, this test would crash too. */
TEST_WITH(a_library_that_crashes, fresh, nothing_left)
{
    static const char *const names[] = {"\"cublas\":", "\"cufft\":", "\"cusolver\":"};
    for (int i = 0; i < 3; i++) {
        const char *libraries[] = {sound[0], sound[1], sound[2]};
        char text[200];
        libraries[i] = CRASHES;
        snprintf(text, sizeof text, "%s%s", names[i], CRASHED);
        expect(libraries, NULL, text, 0);
    }
}

TEST_GROUP(load_plugin, NULL)
