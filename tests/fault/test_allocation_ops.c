/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs every op in a new context while allocation number N of the call fails. The call allocates
 * scratch, temporaries of overlapping operands, and objects that a context creates on first use.
 * The call reports the failure, its outputs are unchanged, nothing leaks, and the same call then
 * succeeds.
 */

#include "common/failing_malloc.h"
#include "common/fixture.h"
#include "common/op_call.h"

/* FAILING_PLUGINS: allocations of the plugins fail too. The cache keeps compiled kernels. */
#ifdef FAILING_PLUGINS
#define PLUGINS FAILING_PLUGINS
static const char *const settings[] = {"log=off",
                                       "cuda.library=" FAKES "/libfake_cuda.so",
                                       "cuda.nvrtc=" FAKES "/libfake_nvrtc.so",
                                       "cuda.cublas=" FAKES "/libfake_cublas.so",
                                       "cuda.cufft=" FAKES "/libfake_cufft.so",
                                       "cuda.cusolver=" FAKES "/libfake_cusolver.so",
                                       NULL};
#else
#define PLUGINS OPENMP_PLUGIN ":" SCALAR_PLUGIN
static const char *const settings[] = {"cache=off", "log=off", NULL};
#endif

static int set_up(void **state)
{
    open_shared(PLUGINS, settings, "cpu_openmp");
    return 0;
}

static void make_outputs_old(const op_call *c)
{
    static unsigned char bytes[OP_CALL_BYTES];
    memset(bytes, OP_CALL_OLD, sizeof bytes);
    for (uint32_t k = 0; k < c->info.n_out; k++)
        assert_ok(cx, collet_array_write(cx, c->array[k], bytes, op_call_bytes(c, k)));
}

/* The allowed results of a failed allocation: success without an optional part, or an error with a
 * text and unchanged outputs. If a call has several launches and one after the first failed, FAILED is allowed
 * too. */
static void check_failure(const op_call *c, const char *backend, long n, collet_context *fresh,
                          collet_status status)
{
    const char *text = collet_last_error(fresh);
    if (status == COLLET_NO_MEMORY || status == COLLET_REFUSED) {
        assert_true(*text != '\0');
        op_call_assert_old(c, cx);
    } else if (status == COLLET_OK || (status == COLLET_FAILED && strstr(text, "out of memory"))) {
        make_outputs_old(c);
    } else {
        fail_msg("%s on %s, allocation %ld: %s (%s)", c->info.name, backend, n,
                 collet_status_name(status), text);
    }
}

/* Runs the call with allocation `n` failing; returns 0 if the call makes fewer allocations. *left:
 * the number of blocks that it leaves allocated. */
static int run_without(const op_call *c, const char *backend, long n, long *left)
{
    long before = allocation_outstanding;
    collet_context *fresh = context_of(rt);
    assert_ok(fresh, collet_set_backend(fresh, backend));
    allocation_failed = 0;
    allocation_countdown = n;
    collet_status status = op_call_run(c, fresh);
    if (status == COLLET_OK)
        status = collet_finish(fresh);
    allocation_countdown = -1;
    int failed = allocation_failed;
    if (failed)
        check_failure(c, backend, n, fresh, status);
    else
        assert_ok(fresh, status);
    collet_context_destroy(fresh);
    *left = allocation_outstanding - before;
    return failed;
}

/* A device keeps objects that its first calls create. So a call leaks only if each of TIMES
 * repetitions leaves blocks. */
#define TIMES 30

/* Fails each allocation of the call; returns their number. */
static long fail_each(const op_call *c, const char *backend)
{
    make_outputs_old(c);
    for (long n = 0;; n++) {
        long left = 1;
        for (int time = 0; time < 3 || left > 0; time++) {
            if (time == TIMES)
                fail_msg("%s on %s, allocation %ld: %ld blocks leaked", c->info.name, backend, n,
                         left);
            if (!run_without(c, backend, n, &left))
                return n;
        }
    }
}

/* Small calls allocate only the scratch of their kernels. */
static long every_op(const char *backend)
{
    long failures = 0;
    for (size_t i = 0; i < op_call_count(rt); i++) {
        op_call c;
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        if (collet_backend_has_kernel(rt, backend, c.info.id, NULL, 0, NULL) != COLLET_OK)
            continue; /* op_call_describe has allocated nothing */
        op_call_arrays(&c, cx);
        failures += fail_each(&c, backend);
        op_call_free(&c);
    }
    print_message("%s: %ld failures\n", backend, failures);
    return failures;
}

TEST(on_one_thread)
{
    (void)every_op("cpu_scalar");
}

TEST(on_all_threads)
{
    assert_true(every_op("cpu_openmp") > 10);
}

#ifdef FAILING_PLUGINS
TEST(on_opencl)
{
    collet_context *fresh = context_of(rt);
    collet_status status = collet_set_backend(fresh, "opencl");
    collet_context_destroy(fresh);
    if (status != COLLET_OK)
        skip();
    assert_true(every_op("opencl") > 10);
}

TEST(on_cuda)
{
    assert_true(every_op("cuda") > 10);
}
#endif

/* An input that overlaps the output is copied to a temporary. */
TEST(temporaries)
{
    static float memory[128];
    const int64_t n = 100;
    op_call c;
    for (size_t i = 0; i < op_call_count(rt); i++) {
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        if (c.info.id == COLLET_OP_EXP)
            break;
    }
    c.operand[0].ndim = c.operand[1].ndim = 1;
    c.operand[0].shape[0] = c.operand[1].shape[0] = n;
    assert_ok(cx,
              collet_array_wrap(cx, &c.array[0], COLLET_F32, 1, &n, NULL, memory, 0, NULL, NULL));
    assert_ok(
        cx, collet_array_wrap(cx, &c.array[1], COLLET_F32, 1, &n, NULL, memory + 1, 0, NULL, NULL));
    assert_true(fail_each(&c, "cpu_scalar") >= 2); /* array with storage; elements, too many for one block */
    op_call_free(&c);
}

/* A sum divided among threads needs scratch for their partial results. */
TEST(scratch)
{
    const int64_t n = (int64_t)1 << 22;
    const collet_scalar one = {.dtype = COLLET_F64, .value.f64 = 1};
    op_call c;
    for (size_t i = 0; i < op_call_count(rt); i++) {
        assert_true(op_call_describe(&c, rt, i, 0, 0));
        if (c.info.id == COLLET_OP_SUM)
            break;
    }
    op_call_arrays(&c, cx);
    c.params.reduce.axes = 1;
    c.operand[0].ndim = 0;
    collet_array_destroy(c.array[0]);
    collet_array_destroy(c.array[1]);
    assert_ok(cx, collet_array_create(cx, &c.array[0], COLLET_F32, 0, NULL));
    assert_ok(cx, collet_array_create(cx, &c.array[1], COLLET_F32, 1, &n));
    assert_ok(cx, collet_op_fill(cx, c.array[1], &one));
    long without = fail_each(&c, "cpu_scalar"), with = fail_each(&c, "cpu_openmp");
    print_message("%ld allocations without scratch, %ld with\n", without, with);
    assert_true(with > without);
    op_call_free(&c);
}

#ifdef FAILING_PLUGINS
#define ARRAYS 4

/* Calls a kernel, a matrix product, a decomposition and a transform with a plan, in device
 * memory. */
static collet_status calls(collet_context *context, collet_array **arrays)
{
    static const float values[16] = {4, 1, 0, 0, 1, 4, 0, 0, 0, 0, 4, 1, 0, 0, 1, 4};
    static const collet_dtype dtypes[] = {COLLET_F32, COLLET_F32, COLLET_C64, COLLET_I32};
    static const int64_t shapes[][2] = {{4, 4}, {4, 4}, {4, 3}, {0}};
    float got[16];
    collet_status status = COLLET_OK;
    for (int i = 0; i < ARRAYS && status == COLLET_OK; i++)
        status = collet_array_create(context, &arrays[i], dtypes[i], i < 3 ? 2 : 0, shapes[i]);
    if (status == COLLET_OK)
        status = collet_array_write(context, arrays[1], values, sizeof values);
    if (status == COLLET_OK)
        status = collet_op_add(context, arrays[0], arrays[1], arrays[1]);
    if (status == COLLET_OK)
        status = collet_op_matmul(context, arrays[0], arrays[1], arrays[1]);
    if (status == COLLET_OK)
        status = collet_op_cholesky(context, arrays[0], arrays[3], arrays[1]);
    if (status == COLLET_OK)
        status = collet_op_fft(context, arrays[2], arrays[1], 2, 0);
    if (status == COLLET_OK)
        status = collet_array_read(context, arrays[0], got, sizeof got);
    return status == COLLET_OK ? collet_finish(context) : status;
}

static collet_status session(const char *backend, collet_error *err)
{
    collet_runtime_options options = {
        .struct_size = sizeof options, .plugin_path = PLUGINS, .settings = settings};
    collet_runtime *runtime = NULL;
    collet_context *context = NULL;
    collet_array *arrays[ARRAYS] = {NULL};
    collet_status status = collet_runtime_create(&runtime, &options, err);
    if (status == COLLET_OK)
        status = collet_context_create(runtime, &context, err);
    if (status == COLLET_OK) {
        status = collet_set_backend(context, backend);
        if (status == COLLET_OK)
            status = calls(context, arrays);
        if (status != COLLET_OK)
            snprintf(err->text, sizeof err->text, "%s", collet_last_error(context));
    }
    for (int i = 0; i < ARRAYS; i++)
        collet_array_destroy(arrays[i]);
    collet_context_destroy(context);
    collet_runtime_destroy(runtime);
    return status;
}

/* Fails allocations in whole sessions, from the creation of a runtime to its end, after which no
 * block may be left. */
TEST(sessions)
{
    static const char *const backends[] = {"cpu_scalar", "cpu_openmp", "cuda", "opencl"};
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        collet_error err = {0};
        long reported = 0, n = 0;
        if (session(backends[i], &err) != COLLET_OK && !strcmp(backends[i], "opencl"))
            skip();
        for (allocation_failed = 1; allocation_failed; n++) {
            long before = allocation_outstanding;
            err = (collet_error){0};
            allocation_failed = 0;
            allocation_countdown = n;
            collet_status status = session(backends[i], &err);
            allocation_countdown = -1;
            if (allocation_outstanding != before)
                fail_msg("%s, allocation %ld: %ld blocks leaked (%s)", backends[i], n,
                         allocation_outstanding - before, err.text);
            if (status != COLLET_OK && (!allocation_failed || !*err.text))
                fail_msg("%s, allocation %ld: %s (%s)", backends[i], n, collet_status_name(status),
                         err.text);
            reported += status != COLLET_OK;
        }
        print_message("%s: %ld failures, %ld reported\n", backends[i], n - 1, reported);
        assert_true(reported > 20);
    }
}

static int fft_without(collet_array *out, const collet_array *in, const char *backend, long n,
                       int time)
{
    long before = allocation_outstanding;
    collet_context *fresh = context_of(rt);
    const collet_fft_params params = {.struct_size = sizeof params, .last_axes = 1};
    assert_ok(fresh, collet_set_backend(fresh, backend));
    allocation_failed = 0;
    allocation_countdown = n;
    collet_status status = collet_call(fresh, COLLET_OP_FFT, &out, &in, &params);
    if (status == COLLET_OK)
        status = collet_finish(fresh);
    allocation_countdown = -1;
    int failed = allocation_failed;
    if (!failed)
        assert_ok(fresh, status);
    else if (status != COLLET_OK && status != COLLET_NO_MEMORY && status != COLLET_REFUSED)
        fail_msg("fft on %s, allocation %ld: %s", backend, n, collet_status_name(status));
    collet_context_destroy(fresh);
    if (time == 2 && failed && status != COLLET_OK && allocation_outstanding > before)
        fail_msg("fft on %s, allocation %ld: %ld blocks leaked", backend, n,
                 allocation_outstanding - before);
    return !failed;
}

/* Plans for lengths with small factors, for lengths that need convolution, and for transforms
 * divided among threads. Plans are cached, so an allocation can fail only at the first use of a
 * length. */
TEST(fft_plans)
{
    static const int64_t lengths[] = {360, 4099, 1 << 18};
    static const char *const backends[] = {"cpu_scalar", "cpu_openmp"};
    for (size_t b = 0; b < 2; b++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            OWNED(collet_array) *in = NULL, *out = NULL;
            const collet_scalar one = {.dtype = COLLET_C128, .value.c128 = {1, 0}};
            long n = 0;
            assert_ok(cx, collet_array_create(cx, &in, COLLET_C128, 1, &lengths[i]));
            assert_ok(cx, collet_array_create(cx, &out, COLLET_C128, 1, &lengths[i]));
            assert_ok(cx, collet_op_fill(cx, in, &one));
            while (!fft_without(out, in, backends[b], n, 0) &&
                   !fft_without(out, in, backends[b], n, 1) &&
                   !fft_without(out, in, backends[b], n, 2))
                n++;
            print_message("%s: %ld failures for %lld points\n", backends[b], n,
                          (long long)lengths[i]);
            assert_true(n >= 3);
        }
}
#endif

TEST_GROUP(set_up, tear_down)
